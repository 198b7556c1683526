import { type HttpAnswer, type HttpRequest, sendRequest } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { everyAreaOperation, unknownPath } from '../testing/area-operations.ts';
import { askAbout } from '../testing/authorize-request.ts';
import { createRouteCases, type RouteCases } from '../testing/route-cases.ts';
import { everyRoute } from '../testing/route-list.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { type AnyRoute, wrongs } from '../testing/wrongs.ts';

let api: TestApi;
let direct: RouteCases;
let asked: RouteCases;
let repeated: RouteCases;
beforeAll(async () => {
  const environment = {
    API_TRUSTED_PROXIES: '127.0.0.1',
    API_RATE_LIMITS: 'pro=1,enterprise=100000',
    API_AUTH_FAILURES: '100000',
  };
  api = await startTestApi({ environment });
  // The same keys for all three: otherwise the answers would differ by their organizations' limits.
  let send: (request: HttpRequest) => Promise<HttpAnswer> = sendRequest;
  const cases = createRouteCases(api, (request) => send(request));
  const by = (way: typeof send): RouteCases => ({
    ...cases,
    call: (route, found) => {
      send = way;
      return cases.call(route, found);
    },
  });
  direct = by(sendRequest);
  asked = by((request) => askAbout(api, request));
  repeated = by((request) => askAbout(api, request, { 'X-Authorize-Repeat': '1' }));
});
afterAll(() => api.stop());

/** Two answers a moment apart are equal, except their time and the rest of the limit. */
function comparable({ status, headers, text }: HttpAnswer) {
  const { date, ratelimit, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset, ...others } = headers;
  const { 'retry-after': retryAfter, ...rest } = others;
  const isLimited = status === 429;
  return {
    status,
    headers: rest,
    present: [date, ratelimit, remaining, reset, retryAfter].map((header) => header !== undefined),
    left: isLimited ? remaining : undefined,
    body: text.replace(/"retry_after":\d+/, '"retry_after":"some"'),
  };
}

const served = everyRoute().filter((route) => !route.path.startsWith('/internal/') && route.caller !== 'anyone');
const operations: AnyRoute[] = [...served, ...everyAreaOperation(), unknownPath];
/** Wrongs of the head of a request. What is wrong behind it, such as its body, an ingress does not ask about. */
const wrongsOf = (route: AnyRoute) =>
  wrongs.filter(
    (wrong) => wrong.applies(route) && wrong.stage < 7 && (route !== unknownPath || wrong.name !== 'other method'),
  );

describe.each(operations.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_name, route) => {
  it.each(wrongsOf(route).map((wrong) => [wrong.name, wrong] as const))(
    'is refused as by the API itself: %s',
    async (_wrong, wrong) => {
      const answer = comparable(await direct.call(route, [wrong]));
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(comparable(await asked.call(route, [wrong]))).toEqual(answer);
    },
  );
});

it.each(wrongsOf(unknownPath).map((wrong) => [wrong.name, wrong] as const))(
  'a repeated question is refused like the first: %s',
  async (_wrong, wrong) => {
    const answer = comparable(await direct.call(unknownPath, [wrong]));
    expect(comparable(await repeated.call(unknownPath, [wrong]))).toEqual(answer);
  },
);

describe('a correct request', () => {
  it.each(
    operations.filter((route) => route !== unknownPath).map((route) => [route.method, route.path, route] as const),
  )('%s %s is granted, with nothing but headers', async (_method, _path, route) => {
    const { status, text, headers } = await asked.call(route, []);
    expect([status, text, headers['content-length'], headers['content-type']]).toEqual([200, '', '0', undefined]);
    expect(headers).toMatchObject({
      'x-request-id': 'test.request-1',
      'x-organization-id': expect.stringMatching(/^org_/),
      'x-organization-plan': 'enterprise',
      'x-api-key-id': expect.stringMatching(/^key_/),
      'x-api-key-scopes': '*',
      'cache-control': 'no-store',
    });
    expect(headers['x-ratelimit-limit']).toBe(route.caller === 'any_key' ? undefined : '100000');
    const again = await repeated.call(route, []);
    expect([again.status, again.headers['retry-after']]).toEqual([503, '1']);
  });

  it('for a path that is nobody’s is 404, as the API answers', async () => {
    const answer = comparable(await direct.call(unknownPath, []));
    expect(answer.status).toBe(404);
    expect(comparable(await asked.call(unknownPath, []))).toEqual(answer);
  });
});
