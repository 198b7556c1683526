import {
  brokenTargets,
  passedTargets,
  refusedTargets,
  smuggledPath,
  smugglingAttempts,
  smugglingRequest,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createRawClient, type RawClient } from '../testing/raw-client.ts';
import { answers, ok, type RawUpstream, startRawUpstream } from '../testing/raw-upstream.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let upstream: RawUpstream;
let api: TestApi;
let key: string;
let client: RawClient;
beforeAll(async () => {
  upstream = await startRawUpstream(answers(ok('{"from":"upstream"}', 'Content-Type: application/json')));
  api = await startTestApi({
    environment: {
      API_UPSTREAMS: `consultations=${upstream.url},scim=http://127.0.0.1:1`,
      API_UPSTREAM_MAX_BODY: '1KiB',
      IDENTITY_SIGNING_KEYS: `one:${Buffer.alloc(32, 7).toString('base64')}`,
    },
  });
  client = createRawClient(api.publicUrl);
});
afterAll(async () => {
  client.close();
  await Promise.all([api.stop(), upstream.close()]);
});
beforeEach(async () => {
  ({ secret: key } = await api.createKey());
});

/** The lines that begin a request, as the upstream has received them since this was called. */
function watchRequests(): () => string[] {
  const before = upstream.received().length;
  return () =>
    upstream
      .received()
      .slice(before)
      .match(/^[A-Z]+ \S+ HTTP\/1\.1/gm) ?? [];
}

const headOf = (target: string, method = 'GET') => [
  `${method} ${target} HTTP/1.1`,
  'Host: api.example',
  `Authorization: Bearer ${key}`,
];
const exchange = (target: string) =>
  client.exchange(Buffer.from(`${[...headOf(target)].join('\r\n')}\r\n\r\n`, 'latin1'));

describe('a request to an area with an upstream', () => {
  it('is answered by the upstream, which learns who asks', async () => {
    const { organization_id: organizationId, id } = await api.createKey().then(async (made) => {
      const answer = await api.call('get', '/v1/consultations/c1?x=1', made.secret).expect(200);
      expect(answer.body).toEqual({ from: 'upstream' });
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'x-ratelimit-limit': expect.any(String) });
      expect(answer.headers['content-security-policy']).toBeUndefined();
      return made;
    });
    const received = upstream.received();
    expect(received).toContain(`X-Organization-Id: ${organizationId}\r\n`);
    expect(received).toContain(`X-Api-Key-Id: ${id}\r\n`);
    expect(received).toMatch(/X-Identity-Token: ey[\w-]+\.[\w-]+\.[\w-]+\r\n/);
    expect(received).not.toContain('nwk_');
  });

  it('reaches it only when every check has passed', async () => {
    const requests = watchRequests();
    const { secret: narrow } = await api.createKey({ scopes: ['batches:read'] });
    const { secret: elsewhere } = await api.createKey({ ip_allowlist: ['203.0.113.0/24'] });
    const path = '/v1/consultations';
    await api.call('get', path).expect(401);
    await api.call('get', path, elsewhere).expect(403);
    await api.call('get', path, narrow).expect(403);
    await api.call('options', path, key).expect(405);
    await api.call('get', '/v1/panels', key).expect(404);
    await api.call('post', path, key).send('x'.repeat(1_025)).expect(413);
    await api.call('get', path, key).set('Connection', 'Upgrade').set('Upgrade', 'x').expect(400);
    expect(requests()).toEqual([]);
  });

  it('is 502 in the shape of the area when the upstream is away', async () => {
    const answer = await api.call('get', '/scim/v2/Users', key).expect(502);
    expect(answer.headers['content-type']).toBe('application/scim+json; charset=utf-8');
    expect(answer.body).toMatchObject({ status: '502', detail: expect.stringMatching(/^upstream_unavailable: /) });
  });

  it('is counted and logged with its area, outcome, and the status and time of the upstream', async () => {
    await api.call('get', '/v1/consultations/c1', key).set('X-Request-Id', 'logged').expect(200);
    const line = await until('the request is logged', () => api.logLines.find((text) => text.includes('"logged"')));
    expect(JSON.parse(line ?? '')).toMatchObject({
      path: '/v1/consultations/…',
      area: 'consultations',
      upstream_status: 200,
      upstream_ms: expect.any(Number),
    });
    const metrics = (await api.internal('get', '/metrics')).text;
    expect(metrics).toMatch(/api_forwarded_requests_total\{area="consultations",outcome="answered"[^}]*\} [1-9]/);
    expect(metrics).toMatch(/api_forwarded_requests_under_way\{area="consultations"[^}]*\} 0/);
    expect(metrics).toMatch(/api_upstream_duration_seconds_count\{[^}]*area="consultations"[^}]*\} [1-9]/);
  });
});

describe('the target of a request', () => {
  it.each(passedTargets)('goes to the upstream byte for byte: $name', async ({ target }) => {
    const requests = watchRequests();
    expect((await exchange(target)).status).toBe(200);
    expect(requests()).toEqual([`GET ${target} HTTP/1.1`]);
  });

  it.each(refusedTargets)('is refused before the upstream sees it: $name', async ({ target }) => {
    const requests = watchRequests();
    expect((await exchange(target)).status).toBe(400);
    expect(requests()).toEqual([]);
  });

  it.each(brokenTargets)('never reaches the upstream: $name', async ({ target }) => {
    const requests = watchRequests();
    const text = await client.cutOff(Buffer.from(`${headOf(target).join('\r\n')}\r\n\r\n`, 'latin1'));
    expect(text === '' || text.startsWith('HTTP/1.1 4')).toBe(true);
    expect(requests()).toEqual([]);
  });
});

describe('a request whose end is unclear', () => {
  it.each(smugglingAttempts)('never leads to a second request at the upstream: $name', async (attempt) => {
    const requests = watchRequests();
    await client.cutOff(smugglingRequest(headOf('/v1/consultations', 'POST'), attempt));
    expect(requests().filter((line) => line.includes(smuggledPath))).toEqual([]);
    expect(requests().length).toBeLessThanOrEqual(1);
  });
});
