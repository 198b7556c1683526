import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseKeyRing } from '@enterprise-api/shared/security';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { completeEnvFile } from './env-file.ts';

let folder: string;
let file: string;
const all = [
  'POSTGRES_PASSWORD',
  'POSTGRES_ADMIN_PASSWORD',
  'REDIS_PASSWORD',
  'INTERNAL_API_SECRET',
  'SECRETS_ENCRYPTION_KEYS',
  'IDENTITY_SIGNING_KEYS',
];
const madeFor = (name: string) => new RegExp(`^${name}='(.*)'$`, 'm').exec(readFileSync(file, 'utf8'))?.[1] ?? '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'enterprise-api-env-'));
  file = join(folder, '.env');
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('the secrets of `make up`', () => {
  it('are made once, readable by their owner only, in the format of the services', () => {
    expect(completeEnvFile(file, {})).toEqual(all);
    const first = readFileSync(file, 'utf8');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(completeEnvFile(file, {})).toEqual([]);
    expect(readFileSync(file, 'utf8')).toBe(first);
    expect(madeFor('INTERNAL_API_SECRET').length).toBeGreaterThanOrEqual(32);
    for (const name of ['SECRETS_ENCRYPTION_KEYS', 'IDENTITY_SIGNING_KEYS'])
      expect(parseKeyRing(madeFor(name)).ok).toBe(true);
    for (const name of ['POSTGRES_PASSWORD', 'REDIS_PASSWORD']) {
      const password = madeFor(name);
      expect(new URL(`postgres://user:${password}@host/database`).password).toBe(password);
    }
  });

  it('differ from one installation to the next', () => {
    completeEnvFile(file, {});
    const first = all.map(madeFor);
    rmSync(file);
    completeEnvFile(file, {});
    expect(all.map(madeFor).filter((value) => first.includes(value))).toEqual([]);
  });

  it('are not made when they are in the file or the environment', () => {
    writeFileSync(file, 'LOG_LEVEL=debug\nPOSTGRES_PASSWORD=mine', { mode: 0o644 });
    const environment = {
      INTERNAL_API_SECRET: 'from the environment',
      IDENTITY_SIGNING_KEYS: 'likewise',
      POSTGRES_ADMIN_PASSWORD: 'likewise',
      REDIS_PASSWORD: 'likewise',
    };
    expect(completeEnvFile(file, environment)).toEqual(['SECRETS_ENCRYPTION_KEYS']);
    expect(readFileSync(file, 'utf8')).toMatch(/^LOG_LEVEL=debug\nPOSTGRES_PASSWORD=mine\n#/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each(['POSTGRES_PASSWORD=', "POSTGRES_PASSWORD=''", '#POSTGRES_PASSWORD=x', 'MY_POSTGRES_PASSWORD=x'])(
    'are made when the file only has the line %s',
    (line) => {
      writeFileSync(file, `${line}\n`);
      expect(completeEnvFile(file, {})).toEqual(all);
    },
  );
});
