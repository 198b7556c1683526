import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseConfig } from './config.ts';

const ring = `k1:${Buffer.alloc(32, 1).toString('base64')}`;
const good = {
  DATABASE_URL: 'postgres://u:hunter2@localhost/db',
  SECRETS_ENCRYPTION_KEYS: ring,
  INTERNAL_API_SECRET: 'x'.repeat(32),
};

function problemsOf(environment: Record<string, string>): string[] {
  const parsed = parseConfig(environment);
  return parsed.ok ? [] : parsed.problems;
}

describe('the settings', () => {
  it('have the documented defaults', () => {
    const parsed = parseConfig(good);
    expect(parsed).toMatchObject({
      ok: true,
      warnings: [],
      config: {
        public: { host: '0.0.0.0', port: 3000 },
        internal: { host: '127.0.0.1', port: 3001 },
        internalSecrets: ['x'.repeat(32)],
        trustedProxies: [],
        rateLimits: { pro: 300, business: 1_200, enterprise: 6_000 },
        authFailuresPerMinute: 600,
        allowedPrivateCidrs: [],
        identitySigningKeys: undefined,
        logLevel: 'info',
        buildCommit: undefined,
      },
    });
  });

  it('are refused with every invalid one named', () => {
    const problems = problemsOf({
      API_PORT: '99999',
      API_RATE_LIMITS: 'starter=1',
      API_TRUSTED_PROXIES: '10/8',
      LOG_LEVEL: 'loud',
    });
    const names = problems.map((text) => text.split(':')[0]);
    expect(new Set(names)).toEqual(
      new Set([
        'DATABASE_URL',
        'SECRETS_ENCRYPTION_KEYS',
        'INTERNAL_API_SECRET',
        'API_PORT',
        'API_RATE_LIMITS',
        'API_TRUSTED_PROXIES',
        'LOG_LEVEL',
      ]),
    );
  });

  it.each([
    ['DATABASE_REPLICA_URL', 'replica.internal:5432'],
    ['API_RATE_LIMITS', 'pro=0'],
    ['API_RATE_LIMITS', 'pro=1,pro=2'],
    ['API_RATE_LIMITS', 'pro'],
    ['API_RATE_LIMITS', 'constructor=5'],
    ['API_AUTH_FAILURES', '0'],
    ['INTERNAL_API_SECRET', 'short'],
    ['INTERNAL_AUTHORIZE_SECRET', 'short'],
    ['INTERNAL_AUTHORIZE_SECRET', `${'y'.repeat(32)},${'x'.repeat(32)}`],
    ['INTERNAL_EVENTS_SECRET', 'short'],
    ['INTERNAL_EVENTS_SECRET', `${'y'.repeat(32)},${'x'.repeat(32)}`],
    ['INTERNAL_API_SECRET', `${'x'.repeat(32)},short`],
    ['INTERNAL_API_SECRET', `no bearer token ${'x'.repeat(32)}`],
    ['SECRETS_ENCRYPTION_KEYS', 'k1:AAAA'],
    ['WEBHOOK_ALLOWED_PRIVATE_CIDRS', 'localhost'],
    ['IDENTITY_SIGNING_KEYS', 'k1'],
    ['IDENTITY_SIGNING_KEYS', `k1:${Buffer.alloc(31, 1).toString('base64')}`],
    ['IDENTITY_SIGNING_KEYS', `${ring},${ring}`],
    ['IDENTITY_SIGNING_KEYS', `${ring},`],
    ['DATABASE_URL', 'mysql://x'],
    ['REDIS_URL', 'http://x'],
    ['INTERNAL_PORT', '3000'],
    ['NODE_TLS_REJECT_UNAUTHORIZED', '0'],
    ['CONSOLE_PUBLIC_URL', 'http://console.example.com'],
    ['CONSOLE_PUBLIC_URL', 'http://127.0.0.1.example.com'],
    ['CONSOLE_PUBLIC_URL', 'https://console.example.com/console'],
    ['CONSOLE_PUBLIC_URL', 'http://[::2]:3000'],
    ['CONSOLE_SIGN_IN_URL', '/in'],
    ['CONSOLE_SIGN_IN_URL', 'javascript:alert(1)'],
    ['CONSOLE_RATE_LIMIT', '0'],
    ['CONSOLE_BRAND_FILE', '/nowhere/brand.json'],
  ])('refuse %s=%s', (name, value) => {
    const problems = problemsOf({ ...good, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name}: `));
  });

  it('are refused without repeating a secret in the message', () => {
    const problems = problemsOf({
      ...good,
      DATABASE_URL: 'hunter2',
      INTERNAL_API_SECRET: 'hunter2',
      INTERNAL_AUTHORIZE_SECRET: 'hunter2',
      INTERNAL_EVENTS_SECRET: 'hunter2',
      SECRETS_ENCRYPTION_KEYS: 'k:hunter2',
      IDENTITY_SIGNING_KEYS: 'k:hunter2',
    });
    expect(problems).toHaveLength(6);
    expect(problems.join()).not.toContain('hunter2');
  });

  it('override the rate limits of the named plans only', () => {
    const parsed = parseConfig({ ...good, API_RATE_LIMITS: 'business=7,enterprise=100000000' });
    expect(parsed.ok && parsed.config.rateLimits).toEqual({ pro: 300, business: 7, enterprise: 100_000_000 });
  });

  it('accept two internal secrets while one replaces the other', () => {
    const parsed = parseConfig({ ...good, INTERNAL_API_SECRET: `${'a'.repeat(32)}, ${'b'.repeat(32)}` });
    expect(parsed.ok && parsed.config.internalSecrets).toEqual(['a'.repeat(32), 'b'.repeat(32)]);
  });

  it('accept a secret for an ingress that differs from the one that opens everything', () => {
    const parsed = parseConfig({ ...good, INTERNAL_AUTHORIZE_SECRET: 'a'.repeat(32) });
    expect(parsed.ok && parsed.config.authorizeSecrets).toEqual(['a'.repeat(32)]);
  });

  it('accept a secret for producers that differs from every other', () => {
    const [ingress, producer] = ['a'.repeat(32), 'b'.repeat(32)];
    const secrets = { INTERNAL_AUTHORIZE_SECRET: ingress, INTERNAL_EVENTS_SECRET: `${producer}, ${'c'.repeat(32)}` };
    const parsed = parseConfig({ ...good, ...secrets });
    expect(parsed.ok && parsed.config.eventsSecrets).toEqual([producer, 'c'.repeat(32)]);
    const problems = problemsOf({ ...good, ...secrets, INTERNAL_EVENTS_SECRET: `${producer},${ingress}` });
    expect(problems).toEqual([expect.stringMatching(/^INTERNAL_EVENTS_SECRET: .*INTERNAL_AUTHORIZE_SECRET/)]);
  });

  it('accept signing keys from a file, the first of which signs', () => {
    const file = join(tmpdir(), `signing-keys-${randomUUID()}`);
    writeFileSync(file, `${ring.replace('k1', 'new')},${ring.replace('k1', 'old')}\n`);
    const parsed = parseConfig({ ...good, IDENTITY_SIGNING_KEYS_FILE: file });
    rmSync(file);
    expect(parsed.ok && parsed.config.identitySigningKeys?.map(({ id }) => id)).toEqual(['new', 'old']);
    expect(parsed.ok && parsed.warnings).toEqual([]);
  });

  it('accept an origin for the console, also http on loopback, and a logo of at most 20 KiB', () => {
    const file = join(tmpdir(), `brand-${randomUUID()}`);
    const png = Buffer.from('89504e470d0a1a0a', 'hex');
    const problems = (bytes: number, start = png) => {
      const logo = Buffer.concat([start, Buffer.alloc(bytes - start.length)]).toString('base64');
      writeFileSync(file, JSON.stringify({ name: 'Acme', logo }));
      return problemsOf({ ...good, CONSOLE_PUBLIC_URL: 'http://127.0.0.1:3000', CONSOLE_BRAND_FILE: file });
    };
    const refused = [expect.stringMatching(/^CONSOLE_BRAND_FILE: /)];
    expect(problems(20_480)).toEqual([]);
    expect(problems(20_481)).toEqual(refused);
    expect(problems(20_480, Buffer.from('GIF89a'))).toEqual(refused);
    rmSync(file);
    for (const CONSOLE_PUBLIC_URL of ['https://console.example.com/', 'http://[::1]:3000', 'http://localhost']) {
      expect(problemsOf({ ...good, CONSOLE_PUBLIC_URL })).toEqual([]);
    }
  });

  it('send traces where an endpoint is set, with headers from a file, and refuse what is no setting of OpenTelemetry', () => {
    const file = join(tmpdir(), `otlp-headers-${randomUUID()}`);
    writeFileSync(file, 'authorization=Bearer%20hunter2\n');
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_EXPORTER_OTLP_HEADERS_FILE: file };
    const parsed = parseConfig({ ...good, ...endpoint });
    rmSync(file);
    expect(parsed.ok && parsed.config.tracing?.headers).toEqual({ authorization: 'Bearer hunter2' });
    const wrong = { OTEL_EXPORTER_OTLP_HEADERS: 'hunter2', OTEL_TRACES_SAMPLER: 'some' };
    expect(problemsOf({ ...good, ...wrong }).sort()).toEqual([
      expect.stringMatching(/^OTEL_EXPORTER_OTLP_HEADERS: (?!.*hunter2)/),
      expect.stringMatching(/^OTEL_TRACES_SAMPLER: must be one of always_on, /),
    ]);
  });

  it('warn about unknown names that resemble a setting', () => {
    const parsed = parseConfig({ ...good, API_PROT: '1', WORKER_CONCURRENCY: '5', WEBHOOK_TIMEOUT: '1', PATH: '/bin' });
    expect(parsed.ok && parsed.warnings).toEqual(['API_PROT', 'WEBHOOK_TIMEOUT']);
  });
});
