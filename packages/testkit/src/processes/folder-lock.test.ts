import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lockFolder } from './folder-lock.ts';

describe('lockFolder', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'enterprise-api-lock-'));
    file = join(folder, 'lock');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is held by one at a time, and names the process that holds it', () => {
    const held = lockFolder(file);
    expect(() => lockFolder(file)).toThrow(`Another run is going on here (process ${process.pid}).`);
    held[Symbol.dispose]();
    using again = lockFolder(file);
    expect(again).toBeDefined();
  });

  it.each([
    ['whose holder is gone', { pid: 2 ** 22 - 1, started: '1' }],
    ['whose process number belongs to another program by now', { pid: process.pid, started: 'some other time' }],
    ['that is malformed', {}],
  ])('replaces a lock %s', (_what, content) => {
    writeFileSync(file, JSON.stringify(content));
    using held = lockFolder(file);
    expect(held).toBeDefined();
    expect(readFileSync(file, 'utf8')).toContain(`"pid":${process.pid}`);
  });

  it('leaves nothing behind', () => {
    writeFileSync(file, '');
    lockFolder(file)[Symbol.dispose]();
    expect(readdirSync(folder)).toEqual([]);
  });
});
