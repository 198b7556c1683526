import { randomBytes } from 'node:crypto';
import { systemClock } from '@enterprise-api/shared/runtime';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendRaw } from '../testing/raw-client.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { generateKey } from './key-format.ts';

/** The wall clock, moved by hand: keys expire by it. */
const moved = { ms: 0 };
const clock = { ...systemClock, now: () => Date.now() + moved.ms };

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ clock, environment: { API_TRUSTED_PROXIES: '127.0.0.1', API_AUTH_FAILURES: '5' } });
});
afterAll(() => api.stop());

/** Each test comes from an address of its own, so that failures of one do not count for another. */
let nextAddress = 1;
const from = () => `198.51.100.${nextAddress++}`;

describe('a request that is not authenticated', () => {
  it('gets the same 401 for every kind of invalid key', async () => {
    const revoked = await api.createKey();
    await api.internal('delete', `/internal/v1/keys/${revoked.id}`).expect(204);
    const expired = await api.createKey({ expires_at: '2020-01-01T00:00:00Z' });
    const good = await api.createKey();
    const headers = [
      undefined,
      '',
      'Bearer',
      `Basic ${good.secret}`,
      `Bearer ${good.secret}x`,
      `Bearer ${good.secret.slice(0, -1)}`,
      `Bearer ${good.secret}, Bearer ${good.secret}`,
      'Bearer nwk_short',
      `Bearer ${generateKey(randomBytes).secret}`,
      `Bearer ${revoked.secret}`,
      `Bearer ${expired.secret}`,
    ];
    const bodies = [];
    for (const header of headers) {
      const call = api.call('get', '/v1/me').set('X-Request-Id', 'same').set('X-Forwarded-For', from());
      const answer = await (header === undefined ? call : call.set('Authorization', header)).expect(401);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="/);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers).not.toHaveProperty('x-ratelimit-limit');
      bodies.push(answer.body);
    }
    for (const body of bodies) expect(body).toEqual(bodies[0]);
    expect(bodies[0].error).toMatchObject({ type: 'authentication_error', code: 'unauthorized', request_id: 'same' });
  });

  it('is refused when it has two Authorization headers, even if both are good', async () => {
    const { secret } = await api.createKey();
    const line = `Authorization: Bearer ${secret}\r\n`;
    const head = `GET /v1/me HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from()}\r\nConnection: close\r\n`;
    expect(await sendRaw(api.publicUrl, `${head}${line}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await sendRaw(api.publicUrl, `${head}${line}${line}\r\n`)).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('costs no look-up when its key is malformed', async () => {
    const { secret } = await api.createKey();
    const garbage = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`;
    const readsBefore = await keyReads();
    for (let count = 0; count < 3; count++) {
      await api.call('get', '/v1/me', garbage).set('X-Forwarded-For', from()).expect(401);
    }
    expect(await keyReads()).toBe(readsBefore);
  });
});

/** Keys looked up in the database so far. */
async function keyReads(): Promise<number> {
  const text = (await api.internal('get', '/metrics').expect(200)).text;
  return Number(/^api_key_lookups_total\S* (\d+)/m.exec(text)?.[1] ?? 0);
}

describe('a key', () => {
  it('is refused from the moment at which it expires, although its copy is fresh', async () => {
    const { secret } = await api.createKey({ expires_at: new Date(Date.now() + 60_000).toISOString() });
    const address = from();
    await api.call('get', '/v1/me', secret).set('X-Forwarded-For', address).expect(200);
    moved.ms = 61_000;
    await api.call('get', '/v1/me', secret).set('X-Forwarded-For', address).expect(401);
    moved.ms = 0;
  });

  it('works within a second of its creation although its absence was remembered', async () => {
    const { secret, id } = await api.createKey();
    await api.db
      .updateTable('api_keys')
      .set({ revoked_at: new Date() })
      .where('public_id', '=', secret.slice(4, 12))
      .execute();
    const address = from();
    await api.call('get', '/v1/me', secret).set('X-Forwarded-For', address).expect(401);
    await api.db
      .updateTable('api_keys')
      .set({ revoked_at: null })
      .where('public_id', '=', secret.slice(4, 12))
      .execute();
    // Another key is made meanwhile: its notification makes the API forget which keys were absent.
    await api.createKey();
    await api.call('get', '/v1/me', secret).set('X-Forwarded-For', address).expect(200);
    expect(id).toMatch(/^key_/);
  });
});

describe('the allowlist of a key', () => {
  it.each([
    ['198.51.100.0/24', '198.51.100.200', 200],
    ['198.51.100.0/24', '198.51.101.1', 403],
    ['198.51.100.7', '::ffff:198.51.100.7', 200],
    ['2001:db8::/32', '2001:DB8:0:1::5', 200],
    ['2001:db8::/32', '2001:db9::1', 403],
  ])('%s, from %s: %i', async (range, address, status) => {
    const { secret } = await api.createKey({ ip_allowlist: [range] });
    await api.call('get', '/v1/me', secret).set('X-Forwarded-For', address).expect(status);
  });

  it('applies to the address that the trusted proxy saw, and ignores addresses that the client claims', async () => {
    const { secret } = await api.createKey({ ip_allowlist: ['198.51.100.0/24'] });
    const forged = await api
      .call('get', '/v1/me', secret)
      .set('X-Forwarded-For', '198.51.100.1, 192.0.2.1')
      .expect(403);
    expect(forged.body.error.code).toBe('ip_not_allowed');
    const junk = await api.call('get', '/v1/me', secret).set('X-Forwarded-For', '198.51.100.1, unknown').expect(403);
    expect(junk.body.error.code).toBe('ip_not_allowed');
  });
});

describe('failed authentications', () => {
  it('are 429 above the limit, before any look-up; keys with a fresh copy still work', async () => {
    const known = await api.createKey();
    const fresh = await api.createKey();
    const address = from();
    const call = (key: string) => api.call('get', '/v1/me', key).set('X-Forwarded-For', address);
    await call(known.secret).expect(200);
    for (let count = 0; count < 5; count++) await call('nwk_nonsense').expect(401);
    const limited = await call('nwk_nonsense').expect(429);
    expect(limited.body.error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limited' });
    expect(limited.body.error.retry_after).toBe(Number(limited.headers['retry-after']));
    await call(fresh.secret).expect(429);
    await call(known.secret).expect(200);
    await api.call('get', '/v1/me', fresh.secret).set('X-Forwarded-For', from()).expect(200);
  });

  it('are counted together for one IPv6 network', async () => {
    for (let host = 1; host <= 5; host++) {
      await api.call('get', '/v1/me').set('X-Forwarded-For', `2001:db8:1:2::${host}`).expect(401);
    }
    await api.call('get', '/v1/me').set('X-Forwarded-For', '2001:db8:1:2:ffff::1').expect(429);
    await api.call('get', '/v1/me').set('X-Forwarded-For', '2001:db8:1:3::1').expect(401);
  });
});
