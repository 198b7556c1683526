import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openProfiles, type Profiles } from './profiles.ts';
import { resolveAccess } from './settings.ts';

let folder: string;
let profiles: Profiles;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'enterprise-api-profiles-'));
  profiles = openProfiles({ XDG_CONFIG_HOME: join(folder, 'config') });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('profiles', () => {
  it('are in a file that only its owner can read, in a folder that only its owner can enter', () => {
    profiles.write('default', { api_url: 'https://api.example.com', api_key: 'nwk_1' });
    expect(statSync(profiles.file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(profiles.file)).mode & 0o777).toBe(0o700);
    chmodSync(profiles.file, 0o644);
    profiles.write('other', { api_key: 'nwk_2' });
    expect(statSync(profiles.file).mode & 0o777).toBe(0o600);
    expect(profiles.read('default')).toEqual({ api_url: 'https://api.example.com', api_key: 'nwk_1' });
  });

  it('are removed one by one', () => {
    profiles.write('a', { api_key: 'nwk_1' });
    profiles.write('b', { api_key: 'nwk_2' });
    profiles.write('a', undefined);
    expect(profiles.read('a')).toBeUndefined();
    expect(profiles.read('b')).toEqual({ api_key: 'nwk_2' });
  });

  it('have any name, also those that every object has', () => {
    expect(profiles.read('__proto__')).toBeUndefined();
    expect(profiles.read('constructor')).toBeUndefined();
    profiles.write('__proto__', { api_key: 'nwk_1' });
    expect(profiles.read('__proto__')).toEqual({ api_key: 'nwk_1' });
  });

  it('follow HOME without XDG_CONFIG_HOME, and where it is relative', () => {
    const expected = '/home/ada/.config/enterprise-api/profiles.json';
    expect(openProfiles({ HOME: '/home/ada' }).file).toBe(expected);
    expect(openProfiles({ HOME: '/home/ada', XDG_CONFIG_HOME: 'config' }).file).toBe(expected);
  });

  it('say which file is broken, and never overwrite it', () => {
    profiles.write('default', { api_key: 'nwk_1' });
    writeFileSync(profiles.file, '{');
    expect(() => profiles.write('default', {})).toThrow(`${profiles.file} does not hold profiles.`);
  });
});

describe('the address and the key of a command', () => {
  const stored = { api_url: 'https://stored.example.com', api_key: 'nwk_stored' };
  const resolve = (options: object, env: Record<string, string>) => resolveAccess('api', options, env, profiles);

  it('come from the profile that is asked for', () => {
    profiles.write('default', stored);
    profiles.write('test', { api_url: 'https://test.example.com', api_key: 'nwk_test' });
    expect(resolve({}, {})).toEqual({ url: stored.api_url, secret: 'nwk_stored' });
    expect(resolve({ profile: 'test' }, {})).toMatchObject({ secret: 'nwk_test' });
    expect(resolve({}, { ENTERPRISE_API_PROFILE: 'test' })).toMatchObject({ secret: 'nwk_test' });
  });

  it('come from the environment before the profile, and the address from the option before both', () => {
    profiles.write('default', stored);
    const env = { ENTERPRISE_API_KEY: 'nwk_env', ENTERPRISE_API_URL: 'https://env.example.com/' };
    expect(resolve({}, env)).toEqual({ url: 'https://env.example.com', secret: 'nwk_env' });
    expect(resolve({ apiUrl: 'http://127.0.0.1:3000' }, env)).toMatchObject({ url: 'http://127.0.0.1:3000' });
    expect(resolve({}, { ENTERPRISE_API_KEY: '', ENTERPRISE_API_URL: '' })).toMatchObject({ secret: 'nwk_stored' });
  });

  it('a stored key is sent to no other address than its own', () => {
    profiles.write('default', stored);
    const refusal = 'The stored API key is for https://stored.example.com, not for https://other.example.com.';
    expect(() => resolve({ apiUrl: 'https://other.example.com' }, {})).toThrow(refusal);
    expect(() => resolve({}, { ENTERPRISE_API_URL: 'https://other.example.com' })).toThrow(refusal);
    expect(resolve({ apiUrl: 'https://stored.example.com/' }, {})).toMatchObject({ secret: 'nwk_stored' });
  });

  it('of the internal listener come from the settings of the container of the API', () => {
    const secretFile = join(folder, 'secret');
    writeFileSync(secretFile, ' newest-secret,older-secret\n');
    const internal = (env: Record<string, string>) => resolveAccess('internal', {}, env, profiles);
    const own = { url: 'http://127.0.0.1:3001', secret: 'newest-secret' };
    expect(internal({ INTERNAL_API_SECRET: 'newest-secret,older-secret' })).toEqual(own);
    expect(internal({ INTERNAL_API_SECRET_FILE: secretFile, INTERNAL_HOST: '0.0.0.0' })).toEqual(own);
    expect(internal({ INTERNAL_API_SECRET_FILE: secretFile, INTERNAL_PORT: '4001', INTERNAL_HOST: '::1' }).url).toBe(
      'http://[::1]:4001',
    );
    expect(() => internal({ INTERNAL_API_SECRET_FILE: join(folder, 'missing') })).toThrow('cannot be read (ENOENT)');
  });

  it('never send the secret of the container to another address', () => {
    const env = { INTERNAL_API_SECRET: 'secret-of-container', ENTERPRISE_API_INTERNAL_URL: 'http://elsewhere:3001' };
    expect(() => resolveAccess('internal', {}, env, profiles)).toThrow('There is no internal secret');
  });

  it('are missed with a hint', () => {
    expect(() => resolve({ profile: 'none' }, {})).toThrow('There is no API key in profile "none".');
    expect(() => resolve({}, { ENTERPRISE_API_KEY: 'nwk_env' })).toThrow('ENTERPRISE_API_KEY is set, but no address.');
  });

  it.each([
    'api.example.com',
    'ftp://api.example.com',
    'https://user:pass@api.example.com',
    'https://a.example/?q=1',
    '…',
  ])('no address: %s', (apiUrl) => {
    expect(() => resolve({ apiUrl }, { ENTERPRISE_API_KEY: 'nwk_env' })).toThrow(
      '--api-url is not the address of an API.',
    );
  });
});
