import { isDeepStrictEqual } from 'node:util';
import { createTestRedis, type TestRedis } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { everyAreaOperation, unknownPath } from '../../testing/area-operations.ts';
import { contentsOf } from '../../testing/contents.ts';
import { expectCommonHeaders, expectError, isInternal } from '../../testing/expectations.ts';
import { createRouteCases, type RouteCases } from '../../testing/route-cases.ts';
import { everyRoute, type ListedRoute } from '../../testing/route-list.ts';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type AnyRoute, type Wrong, wrongs } from '../../testing/wrongs.ts';

const routes = everyRoute();
/** Without upstreams, an area is answered here only where a route has its path. */
const unserved = [
  unknownPath,
  ...everyAreaOperation().filter(({ path }) => routes.every((route) => route.path !== path)),
];

let api: TestApi;
let cases: RouteCases;

/** What is told of several wrongs: the first in the order of checks. */
function firstOf(found: readonly Wrong[]): Pick<Wrong, 'code' | 'stage'> {
  return found.reduce((first, wrong) => (wrong.stage < first.stage ? wrong : first));
}

function pairsOf(some: readonly Wrong[]): Wrong[][] {
  return some.flatMap((one, index) => some.slice(index + 1).map((two) => [one, two]));
}

/** Neighbours in the order of checks prove the order. A caller without a key learns nothing else, whatever is wrong. */
function tellingPairs(possible: readonly Wrong[]): Wrong[][] {
  const stages = [...new Set(possible.map(({ stage }) => stage))].sort((left, right) => left - right);
  return pairsOf(possible).filter(
    ([one, two]) =>
      one === possible[0] || stages.indexOf(Number(one?.stage)) + 1 === stages.indexOf(Number(two?.stage)),
  );
}

/** 4 MiB on the internal listener: once is enough. */
function isHeavy(route: AnyRoute, pair: readonly Wrong[]): boolean {
  return isInternal(route) && pair.some(({ code }) => code === 'payload_too_large');
}

describe('every route:', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await createTestRedis();
    const environment = {
      REDIS_URL: redis.url,
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
    await redis.close();
  });

  describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_name, route) => {
    const possible = wrongs.filter((wrong) => wrong.applies(route));

    it('answers a correct request as declared', async () => {
      const answer = await cases.call(route, []);
      expect([answer.status, answer.body?.error]).toEqual([route.status, undefined]);
      expectCommonHeaders(answer, route, route.caller !== 'any_key');
      expect(answer.headers.location !== undefined).toBe(route.location !== undefined);
    });

    it('answers HEAD as GET, without the body', async () => {
      if (route.method !== 'GET') return;
      const answerBoth = async () => {
        const answers = [await cases.call(route, []), await cases.call({ ...route, method: 'HEAD' } as never, [])];
        expect(answers[1]?.text).toBe('');
        return answers.map(({ status, headers }) => [status, headers['content-length'], headers.etag]);
      };
      let [get, head] = await answerBoth();
      // A body that shows the present may be a digit longer a moment later.
      for (let again = 0; again < 5 && !isDeepStrictEqual(get, head); again += 1) [get, head] = await answerBoth();
      expect(head).toEqual(get);
    });

    it.each(possible.map((wrong) => [wrong.name, wrong] as const))('%s', async (_wrong, wrong) => {
      expectError(await cases.call(route, [wrong]), route, wrong);
    });

    it('answers with the error that is checked first when two are wrong, and changes nothing', async () => {
      const before = await contentsOf(api.db);
      for (const pair of tellingPairs(possible).filter((each) => !isHeavy(route, each))) {
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
        (wrong) => wrong.applies(route) && wrong.stage < 7 && (route !== unknownPath || wrong.name !== 'other method'),
      );

      it('is 404 for an authorized request', async () => {
        expectError(await cases.call(route, []), route, missing);
      });

      it('is 401, 403 or 429 like a served route, before 404', async () => {
        for (const one of possible) {
          const others = possible.slice(possible.indexOf(one));
          for (const two of others) expectError(await cases.call(route, [one, two]), route, firstOf([one, two]));
        }
      });
    },
  );
});
