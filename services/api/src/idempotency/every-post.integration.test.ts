import { newUuid } from '@enterprise-api/shared/runtime';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRouteCases } from '../testing/route-cases.ts';
import { everyRoute, type ListedRoute } from '../testing/route-list.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

/** Links to the console work once, so an answer that contains one is never stored: the key is refused. */
const posts = everyRoute().filter(({ method, path }) => method === 'POST' && !path.endsWith('/console-sessions'));

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ environment: { API_TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => api.stop());

/** Sends one body, as often as it is called and with whatever key, for objects that no other test has used up. */
async function createSender(route: ListedRoute) {
  const cases = createRouteCases(api);
  const body = route.body === undefined ? undefined : JSON.stringify(await cases.validBody(route));
  return (key: string) => cases.callWith(route, { body, headers: { 'Idempotency-Key': key } });
}

describe.each(posts.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_name, route) => {
  it('has its effect once, and repeats its answer to the same key', async () => {
    const send = await createSender(route);
    const key = newUuid();
    const first = await send(key);
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([route.status, undefined]);
    const again = await send(key);
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([route.status, 'true']);
    expect(again.text).toBe(first.text);
    expect(again.headers.location).toBe(first.headers.location);
  });

  it.each(['', 'two words', 'x'.repeat(256)])('400 for the key %j', async (key) => {
    const send = await createSender(route);
    const answer = await send(key);
    expect([answer.status, answer.body.error?.param]).toEqual([400, 'Idempotency-Key']);
  });
});
