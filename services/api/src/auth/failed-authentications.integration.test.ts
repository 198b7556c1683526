import { systemClock } from '@enterprise-api/shared/runtime';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

/** The monotonic clock, moved by hand: copies of keys grow old by it, and blocks end. */
const moved = { ms: 0 };
const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + moved.ms };
const failuresAllowed = 5;

let api: TestApi;
beforeAll(async () => {
  const environment = { API_TRUSTED_PROXIES: '127.0.0.1', API_AUTH_FAILURES: String(failuresAllowed) };
  api = await startTestApi({ clock, environment });
});
afterAll(() => api.stop());

/** Each test comes from an address of its own, so that failures of one do not count for another. */
let nextAddress = 1;
const callFrom = (address = `198.51.100.${nextAddress++}`) => ({
  address,
  call: (key: string) => api.call('get', '/v1/me', key).set('X-Forwarded-For', address),
});

async function block(call: (key: string) => PromiseLike<{ status: number }>): Promise<void> {
  for (let count = 0; count < failuresAllowed; count++) await call('nwk_nonsense');
  expect((await call('nwk_nonsense')).status).toBe(429);
}

describe('an address with too many failed authentications', () => {
  it('may use keys that were good from it within the last hour, also when their copies are old', async () => {
    const known = await api.createKey();
    const { call } = callFrom();
    await call(known.secret).expect(200);
    moved.ms += 59 * 60_000;
    await block(call);
    await call(known.secret).expect(200);
    moved.ms += 5_000;
    await call(known.secret).expect(200);
  });

  it('may not use a key that was good from it longer ago, or from another address', async () => {
    const key = await api.createKey();
    const { call } = callFrom();
    await call(key.secret).expect(200);
    const elsewhere = callFrom();
    await block(elsewhere.call);
    moved.ms += 5_000;
    await elsewhere.call(key.secret).expect(429);
    moved.ms += 61 * 60_000;
    await block(call);
    await call(key.secret).expect(429);
  });

  it('looks up a revoked key once more, and then no longer', async () => {
    const key = await api.createKey();
    const { call } = callFrom();
    await call(key.secret).expect(200);
    await block(call);
    await api.internal('delete', `/internal/v1/keys/${key.id}`).expect(204);
    const before = await lookups();
    for (let time = 0; time < 3; time++) {
      moved.ms += 2_000;
      await call(key.secret).expect(429);
    }
    expect((await lookups()) - before).toBe(1);
  });

  it.each([{}, { look: true as const }])('may try no more links of the console, and no more keys: %j', async (how) => {
    const { address, call } = callFrom();
    const { organization_id: id } = await api.createKey();
    const minted = await api.internal('post', `/internal/v1/organizations/${id}/console-sessions`).send({});
    const enter = (token = 'a'.repeat(43)) =>
      request(api.publicUrl)
        .post('/console/api/enter')
        .set({ 'X-Console': '1', 'X-Forwarded-For': address })
        .send({ token, ...how });
    for (let count = 0; count < failuresAllowed; count++) await enter().expect(401);
    await enter().expect(429);
    await enter(minted.body.url.split('#')[1]).expect(429);
    await call('nwk_nonsense').expect(429);
  });
});

/** Keys looked up in the database so far. */
async function lookups(): Promise<number> {
  const { text } = await api.internal('get', '/metrics').expect(200);
  return Number(/^api_key_lookups_total\S* (\d+)/m.exec(text)?.[1] ?? 0);
}

describe('X-Forwarded-For', () => {
  const warnings = (lines: readonly string[]) =>
    lines.map((line) => JSON.parse(line)).filter(({ msg }) => String(msg).startsWith('X-Forwarded-For ignored'));

  it('from a peer that is not trusted is ignored, with a warning that names the peer', async () => {
    const direct = await startTestApi();
    try {
      const { secret } = await direct.createKey();
      for (let count = 0; count < 3; count++) {
        await direct.call('get', '/v1/me', secret).set('X-Forwarded-For', '198.51.100.1').expect(200);
      }
      expect(warnings(direct.logLines)).toEqual([
        expect.objectContaining({ level: 'warn', peer_address: '127.0.0.1' }),
      ]);
    } finally {
      await direct.stop();
    }
  });

  it('from a trusted proxy, or none at all, is no reason to warn', async () => {
    const { secret } = await api.createKey();
    await callFrom().call(secret).expect(200);
    await api.call('get', '/v1/me', secret).expect(200);
    expect(warnings(api.logLines)).toEqual([]);
  });
});
