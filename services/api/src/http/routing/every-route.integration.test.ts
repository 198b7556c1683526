import { errorBodySchema, errorCatalogue } from '@enterprise-api/shared/contracts';
import { type HttpAnswer, queueBackends } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contentsOf } from '../../testing/contents.ts';
import { createRouteCases, type RouteCases } from '../../testing/route-cases.ts';
import { everyRoute, type ListedRoute } from '../../testing/route-list.ts';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type AnyRoute, type Wrong, wrongs } from '../../testing/wrongs.ts';

const routes = everyRoute();
const nowhere = { caller: 'authenticated', ids: {}, query: undefined, body: undefined, ifMatch: false } as const;
const unserved: AnyRoute[] = [
  { ...nowhere, method: 'GET', path: '/v1/unknown', scope: null },
  { ...nowhere, method: 'POST', path: '/v1/chat/completions', scope: 'chat.completions' },
  { ...nowhere, method: 'GET', path: '/scim/v2/Users', scope: 'scim:read' },
  { ...nowhere, method: 'PATCH', path: '/scim/v2/Users/1', scope: 'scim:write' },
];

let api: TestApi;
let cases: RouteCases;

const rateHeaders = [
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
] as const;
const isInternal = (route: AnyRoute) => route.path.startsWith('/internal/');

function allowOf({ path }: AnyRoute): string {
  return routes
    .filter((route) => route.path === path)
    .flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]))
    .join(', ');
}

/** Checks the headers that every answer has. */
function expectCommonHeaders(answer: HttpAnswer, route: AnyRoute, isCounted: boolean): void {
  const { headers } = answer;
  expect(headers['x-request-id']).toBe('test.request-1');
  expect(headers['cache-control']).toBe('no-store');
  const counted = isCounted && !isInternal(route);
  expect(rateHeaders.filter((name) => headers[name] !== undefined)).toEqual(counted ? rateHeaders : []);
  if (!counted) return;
  expect(headers.ratelimit).toMatch(/^"organization";r=\d+;t=([1-9]|[1-5]\d|60)$/);
  expect(headers['ratelimit-policy']).toBe(`"organization";q=${String(headers['x-ratelimit-limit'])};w=60`);
  const resetInS = Number(headers['x-ratelimit-reset']) - Date.now() / 1_000;
  expect(resetInS > -1 && resetInS < 62).toBe(true);
}

function expectError(answer: HttpAnswer, route: AnyRoute, { code, stage }: Pick<Wrong, 'code' | 'stage'>): void {
  expect([answer.status, answer.body?.error?.code]).toEqual([errorCatalogue[code].status, code]);
  expectCommonHeaders(answer, route, stage >= 4);
  const { headers } = answer;
  const { error } = errorBodySchema.parse({ error: answer.body.error });
  const isScim = route.path.startsWith('/scim/');
  expect(Object.keys(answer.body)).toEqual(isScim ? ['schemas', 'status', 'detail', 'error'] : ['error']);
  expect(headers['content-type']).toBe(`application/${isScim ? 'scim+json' : 'json'}; charset=utf-8`);
  expect(error).toMatchObject({ type: errorCatalogue[code].type, request_id: 'test.request-1' });
  expect(error.message).toMatch(/^\S.+\.$/);
  expect(headers['retry-after']).toBe(code === 'rate_limited' ? String(error.retry_after) : undefined);
  expect(error.retry_after === undefined).toBe(code !== 'rate_limited');
  expect(headers.allow).toBe(code === 'method_not_allowed' ? allowOf(route) : undefined);
  const challenge = {
    unauthorized: /^Bearer realm="/,
    forbidden_scope: /^Bearer .*error="insufficient_scope", scope="/,
  };
  expect(headers['www-authenticate'] ?? '').toMatch(challenge[code as keyof typeof challenge] ?? /^$/);
  expect(error.required_scope).toBe(code === 'forbidden_scope' ? route.scope : undefined);
  const namesPlace = stage >= 7 && stage <= 10;
  expect([error.param !== undefined, (error.details ?? []).length > 0]).toEqual([namesPlace, namesPlace]);
}

/** What is told of several wrongs: the first in the order of checks. */
function firstOf(found: readonly Wrong[]): Pick<Wrong, 'code' | 'stage'> {
  return found.reduce((first, wrong) => (wrong.stage < first.stage ? wrong : first));
}

function pairsOf(some: readonly Wrong[]): Wrong[][] {
  return some.flatMap((one, index) => some.slice(index + 1).map((two) => [one, two]));
}

/** 4 MiB on the internal listener: once is enough. */
function isHeavy(route: AnyRoute, pair: readonly Wrong[]): boolean {
  return isInternal(route) && pair.some(({ code }) => code === 'payload_too_large');
}

describe.each(queueBackends())('every route, with the queue on $name:', ({ start }) => {
  let store: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    store = await start();
    const environment = {
      ...(store.redisUrl !== undefined && { REDIS_URL: store.redisUrl }),
      API_TRUSTED_PROXIES: '127.0.0.1',
      API_RATE_LIMITS: 'pro=1,enterprise=100000',
      API_AUTH_FAILURES: '100000',
    };
    api = await startTestApi({ environment });
    cases = createRouteCases(api);
    // Makes every key that the others share, so that from here on nothing but the requests themselves writes anything.
    const [route] = routes as [ListedRoute];
    for (const pair of pairsOf(wrongs.filter((wrong) => wrong.applies(route)))) await cases.call(route, pair);
  });
  afterAll(async () => {
    await api.stop();
    await store.close();
  });

  describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_name, route) => {
    const possible = wrongs.filter((wrong) => wrong.applies(route));

    it('answers a correct request as declared', async () => {
      const answer = await cases.call(route, []);
      expect([answer.status, answer.body?.error]).toEqual([route.status, undefined]);
      expectCommonHeaders(answer, route, true);
      expect(answer.headers.location !== undefined).toBe(route.location !== undefined);
    });

    it('answers HEAD as GET, without the body', async () => {
      if (route.method !== 'GET') return;
      const answers = [await cases.call(route, []), await cases.call({ ...route, method: 'HEAD' } as never, [])];
      const [get, head] = answers.map(({ status, headers }) => [status, headers['content-length'], headers.etag]);
      expect(head).toEqual(get);
      expect(answers[1]?.text).toBe('');
    });

    it.each(possible.map((wrong) => [wrong.name, wrong] as const))('%s', async (_wrong, wrong) => {
      expectError(await cases.call(route, [wrong]), route, wrong);
    });

    it('answers with the error that is checked first when two are wrong, and changes nothing', async () => {
      // The first calls make what the others share.
      for (const wrong of possible) await cases.call(route, [wrong]);
      const before = await contentsOf(api.db);
      for (const pair of pairsOf(possible).filter((each) => !isHeavy(route, each))) {
        const answer = await cases.call(route, pair);
        const names = pair.map((wrong) => wrong.name).join(' and ');
        try {
          expectError(answer, route, firstOf(pair));
        } catch (error) {
          throw new Error(`${names}: ${(error as Error).message}`, { cause: error });
        }
      }
      expect(await contentsOf(api.db)).toBe(before);
    });
  });

  describe.each(unserved.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'a path without a route: %s',
    (_name, route) => {
      const missing = { code: 'not_found', stage: 11 } as const;
      const possible = wrongs.filter(
        (wrong) => wrong.applies(route) && wrong.stage < 7 && wrong.name !== 'other method',
      );

      it('is 404 for an authorized request', async () => {
        expectError(await cases.call(route, []), route, missing);
      });

      it('is 401, 403 or 429 like a served route, before 404', async () => {
        for (const one of possible) {
          for (const two of possible) expectError(await cases.call(route, [one, two]), route, firstOf([one, two]));
        }
      });
    },
  );
});
