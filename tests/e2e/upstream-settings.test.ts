import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService, testInternalSecret, testKeyRing } from '@enterprise-api/testkit';
import { afterAll, describe, expect, it } from '@jest/globals';

const folder = mkdtempSync(join(tmpdir(), 'upstream-settings-'));
const notPem = join(folder, 'not.pem');
writeFileSync(notPem, 'no certificate');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const seed = (bytes: number) => Buffer.alloc(bytes, 'q').toString('base64');
const good = {
  SECRETS_ENCRYPTION_KEYS: testKeyRing,
  INTERNAL_API_SECRET: testInternalSecret,
  // Settings are judged before anything connects.
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
};

/** By variable: a wrong value, and what its line says of it. */
type Wrongs = Record<string, readonly [value: string, ...told: RegExp[]]>;

const starts: [string, Wrongs][] = [
  [
    'addresses, units, a file that is missing and a key that is too short',
    {
      API_UPSTREAMS: [
        'nowhere=http://a,batches=http://hunter2:pw@a,panels=http://a/?q=1,scim=http://a/#f,chat=ftp://a',
        /API_UPSTREAMS: each entry must be area=url, where the area is one of consultations, /,
        /API_UPSTREAMS: the URL of batches must not have credentials/,
        /API_UPSTREAMS: the URL of panels must not have a query/,
        /API_UPSTREAMS: the URL of scim must not have a query or a fragment/,
        /API_UPSTREAMS: the URL of chat must begin with http/,
      ],
      API_UPSTREAM_TIMEOUT: ['0s', /API_UPSTREAM_TIMEOUT: must be more than 0/],
      API_UPSTREAM_IDLE_TIMEOUT: ['soon', /API_UPSTREAM_IDLE_TIMEOUT: /],
      API_UPSTREAM_CONCURRENCY: ['0', /API_UPSTREAM_CONCURRENCY: must be a whole number from 1/],
      API_UPSTREAM_MAX_BODY: ['4MB', /API_UPSTREAM_MAX_BODY: /],
      API_UPSTREAM_CA_FILE: [join(folder, 'missing.pem'), /API_UPSTREAM_CA_FILE: cannot be read/],
      IDENTITY_SIGNING_KEYS: [`k1:${seed(31)}`, /IDENTITY_SIGNING_KEYS: /],
    },
  ],
  [
    'doubled entries, an empty user, values beyond what there is, a file without certificates and a name used twice',
    {
      API_UPSTREAMS: [
        'batches=http://a,batches=http://b,chat=http://@a,usage=nonsense,scim',
        /API_UPSTREAMS: batches appears more than once/,
        /API_UPSTREAMS: the URL of chat must not have credentials/,
        /API_UPSTREAMS: the URL of usage is not a URL/,
        /API_UPSTREAMS: each entry must be area=url/,
      ],
      API_UPSTREAM_TIMEOUT: ['60', /API_UPSTREAM_TIMEOUT: /],
      API_UPSTREAM_IDLE_TIMEOUT: ['999999h', /API_UPSTREAM_IDLE_TIMEOUT: must be more than 0, and at most 24 days/],
      API_UPSTREAM_CONCURRENCY: ['1.5', /API_UPSTREAM_CONCURRENCY: /],
      API_UPSTREAM_MAX_BODY: ['-1KiB', /API_UPSTREAM_MAX_BODY: /],
      API_UPSTREAM_CA_FILE: [notPem, /API_UPSTREAM_CA_FILE: is not a PEM file/],
      IDENTITY_SIGNING_KEYS: [`k1:${seed(32)},k1:${seed(32)}`, /IDENTITY_SIGNING_KEYS: /],
    },
  ],
];

describe('an API whose settings of upstreams are wrong', () => {
  it.each(starts)('ends with 78, and names all problems together: %s', async (_, wrongs) => {
    const values = Object.fromEntries(Object.entries(wrongs).map(([name, [value]]) => [name, value]));
    const service = await startService('api', { ...good, ...values }, { waitUntilReady: false });
    const { code } = await service.exited;
    const output = service.lines.join('\n');
    expect(code).toBe(78);
    for (const pattern of Object.values(wrongs).flatMap(([, ...told]) => told)) expect(output).toMatch(pattern);
    expect(output).not.toContain('hunter2');
    expect(output).not.toContain(seed(30).slice(0, 20));
  });

  it.each([
    'consultations=http://hunter2@a',
    'consultations=http://a?',
    'consultations=http://a#',
    'consultation=http://a',
  ])('ends with 78 because of API_UPSTREAMS=%s alone', async (API_UPSTREAMS) => {
    const service = await startService('api', { ...good, API_UPSTREAMS }, { waitUntilReady: false });
    expect((await service.exited).code).toBe(78);
    expect(service.lines.join('\n')).toMatch(/API_UPSTREAMS: /);
  });
});
