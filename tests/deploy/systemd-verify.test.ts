import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';
import { describeWith } from '@enterprise-api/testkit/toolchains';
import { expect, it } from '@jest/globals';
import { readUnit, unitNames } from './systemd-unit.ts';

describeWith(['systemd'], (verifier) => {
  it('systemd reads the units without a complaint', () => {
    const folder = mkdtempSync(join(tmpdir(), 'units-'));
    try {
      const paths = unitNames.map((name) => join(folder, `${name}.service`));
      for (const [index, name] of unitNames.entries())
        writeFileSync(paths[index] ?? '', readUnit(name, projectFolder).text);
      const { status, stderr } = spawnSync(verifier, ['verify', '--man=no', ...paths], { encoding: 'utf8' });
      // Units of the machine itself may be wrong: what counts is what is said of ours.
      expect(stderr.split('\n').filter((line) => line.includes('enterprise-api'))).toEqual([]);
      expect(status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
