import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { parseEnvironment } from './env.ts';
import { commonSettings, durationSchema, integerSchema } from './settings.ts';

const shape = {
  DATABASE_URL: commonSettings.DATABASE_URL,
  WORKER_PORT: integerSchema(0, 65_535).default(3_002),
  WORKER_WAIT: durationSchema.prefault('10s'),
};
const rules = { secrets: ['DATABASE_URL'], known: ['API_PORT'] };
const url = 'postgres://user:hunter2@localhost/db';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'env-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('settings from the environment', () => {
  it('are parsed, with defaults, and an empty variable counts as unset', () => {
    const parsed = parseEnvironment(shape, { DATABASE_URL: url, WORKER_PORT: '', WORKER_WAIT: '2m' }, rules);
    expect(parsed).toEqual({
      ok: true,
      settings: { DATABASE_URL: url, WORKER_PORT: 3_002, WORKER_WAIT: 120_000 },
      warnings: [],
    });
  });

  it('report all problems together, each by its name, and never a value', () => {
    const parsed = parseEnvironment(
      shape,
      { DATABASE_URL: 'mysql://hunter2', WORKER_PORT: '70000', WORKER_WAIT: 'soon' },
      rules,
    );
    expect(parsed).toMatchObject({ ok: false });
    const problems = parsed.ok ? [] : parsed.problems;
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(['DATABASE_URL', 'WORKER_PORT', 'WORKER_WAIT']);
    expect(problems.join()).not.toContain('hunter2');
  });

  it('name the required ones that are missing', () => {
    expect(parseEnvironment(shape, {}, rules)).toEqual({ ok: false, problems: ['DATABASE_URL: is required'] });
  });

  it('read a secret from a file, and refuse two sources or a missing file', async () => {
    const file = join(folder, 'url');
    await writeFile(file, `${url}\n`);
    expect(parseEnvironment(shape, { DATABASE_URL_FILE: file }, rules)).toMatchObject({
      settings: { DATABASE_URL: url },
    });
    const both = parseEnvironment(shape, { DATABASE_URL: url, DATABASE_URL_FILE: file }, rules);
    expect(both).toEqual({ ok: false, problems: [expect.stringContaining('DATABASE_URL_FILE')] });
    const missing = parseEnvironment(shape, { DATABASE_URL_FILE: join(folder, 'nothing') }, rules);
    expect(missing).toEqual({ ok: false, problems: [expect.stringContaining('ENOENT')] });
  });

  it('warn about unknown names with our prefixes, but not about settings of the other process nor other variables', () => {
    const environment = { DATABASE_URL: url, WORKER_TIMEOUTS: '1', API_PORT: '1', API_PORT_FILE: 'x', PATH: 'x' };
    expect(parseEnvironment(shape, environment, rules)).toMatchObject({ ok: true, warnings: ['WORKER_TIMEOUTS'] });
  });

  it('are checked against each other once each is valid', () => {
    const crossCheck = () => ['WORKER_WAIT: is too long for WORKER_PORT'];
    expect(parseEnvironment(shape, { DATABASE_URL: url }, rules, crossCheck)).toMatchObject({ ok: false });
    expect(parseEnvironment({ NUMBER: z.string() }, {}, rules)).toEqual({
      ok: false,
      problems: ['NUMBER: is required'],
    });
  });
});
