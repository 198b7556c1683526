import { describe, expect, it } from '@jest/globals';
import { databaseName, type GivenSettings, localUrl, readGivenSettings, serviceEnvironment } from './settings.ts';

const made = {
  databaseUrl: 'postgresql://made',
  encryptionKeys: 'made:key',
  internalSecret: 'made-secret',
  eventsSecret: 'made-events-secret',
  identityKeys: 'made:signing-key',
  caFile: '/data/ca-bundle.pem',
  listeners: {
    api: { host: '127.0.0.1', port: 3000 },
    internal: { host: '127.0.0.1', port: 3001 },
    worker: { host: '127.0.0.1', port: 3002 },
    consultations: { host: '127.0.0.1', port: 3003 },
  },
};

function given(env: Record<string, string>): GivenSettings {
  const parsed = readGivenSettings(env);
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return parsed.settings;
}

describe('serviceEnvironment', () => {
  it('fills in everything when nothing is given', () => {
    expect(serviceEnvironment({ PATH: '/bin' }, given({}), made)).toEqual({
      PATH: '/bin',
      DATABASE_URL: 'postgresql://made',
      SECRETS_ENCRYPTION_KEYS: 'made:key',
      INTERNAL_API_SECRET: 'made-secret',
      INTERNAL_EVENTS_SECRET: 'made-events-secret',
      IDENTITY_SIGNING_KEYS: 'made:signing-key',
      API_UPSTREAMS: 'consultations=http://127.0.0.1:3003,batches=http://127.0.0.1:3003',
      API_PUBLIC_URL: 'http://127.0.0.1:3000',
      CONSOLE_PUBLIC_URL: 'http://127.0.0.1:3000',
      API_HOST: '127.0.0.1',
      API_PORT: '3000',
      INTERNAL_HOST: '127.0.0.1',
      INTERNAL_PORT: '3001',
      WORKER_HOST: '127.0.0.1',
      WORKER_PORT: '3002',
      WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8,::1/128',
      WEBHOOK_CA_FILE: '/data/ca-bundle.pem',
    });
  });

  it('leaves a given secret unchanged, also one that is given as a file', () => {
    const env = { DATABASE_URL: 'postgresql://given', INTERNAL_API_SECRET_FILE: import.meta.filename };
    const services = serviceEnvironment(env, given(env), made);
    expect(services.DATABASE_URL).toBe('postgresql://given');
    expect(services.INTERNAL_API_SECRET).toBeUndefined();
    expect(services.INTERNAL_API_SECRET_FILE).toBe(import.meta.filename);
  });

  it('adds the given ranges to its own', () => {
    const env = { WEBHOOK_ALLOWED_PRIVATE_CIDRS: '10.0.0.0/8' };
    const services = serviceEnvironment(env, given(env), made);
    expect(services.WEBHOOK_ALLOWED_PRIVATE_CIDRS).toBe('127.0.0.0/8,::1/128,10.0.0.0/8');
  });

  it('adds the areas of the example service to the given ones, in place of their own', () => {
    const env = { API_UPSTREAMS: 'scim=http://scim:1, batches=http://mine:2' };
    const services = serviceEnvironment(env, given(env), made);
    expect(services.API_UPSTREAMS).toBe(
      'consultations=http://127.0.0.1:3003,batches=http://127.0.0.1:3003,scim=http://scim:1',
    );
  });

  it('passes on settings that it does not know', () => {
    const env = { REDIS_URL: 'redis://given', WEBHOOK_TIMEOUT_MS: '900' };
    expect(serviceEnvironment(env, given(env), made)).toMatchObject(env);
  });
});

describe('readGivenSettings', () => {
  it('names every problem and every unknown setting', () => {
    expect(readGivenSettings({ API_PORT: 'x', WORKER_PORT: '70000' })).toMatchObject({
      ok: false,
      problems: [expect.stringContaining('API_PORT'), expect.stringContaining('WORKER_PORT')],
    });
    expect(readGivenSettings({ API_PROT: '1' })).toMatchObject({ ok: true, warnings: ['API_PROT'] });
  });
});

describe('localUrl', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:3000'],
    ['0.0.0.0', 'http://127.0.0.1:3000'],
    ['::', 'http://[::1]:3000'],
    ['::1', 'http://[::1]:3000'],
    ['api.local', 'http://api.local:3000'],
  ])('reaches a listener on %s at %s', (host, url) => {
    expect(localUrl({ host, port: 3000 })).toBe(url);
  });
});

describe('databaseName', () => {
  it('names the database without its role and password', () => {
    expect(databaseName('postgresql://role:secret@db.example/name?sslmode=require')).toBe('db.example:5432/name');
  });
});

describe('readGivenSettings with URLs that cannot be used', () => {
  it('names a database or Redis that is not a URL', () => {
    expect(readGivenSettings({ DATABASE_URL: 'localhost', REDIS_URL: 'localhost:6379' })).toEqual({
      ok: false,
      problems: [
        expect.stringContaining('DATABASE_URL: must be a URL'),
        expect.stringContaining('REDIS_URL: must be redis://'),
      ],
    });
  });

  it('treats an empty value as missing', () => {
    expect(given({ DATABASE_URL: '', REDIS_URL: '' })).toEqual({});
  });
});
