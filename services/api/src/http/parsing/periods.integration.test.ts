import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRouteCases, type RouteCases } from '../../testing/route-cases.ts';
import { everyRoute, type ListedRoute } from '../../testing/route-list.ts';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';

let api: TestApi;
let cases: RouteCases;
beforeAll(async () => {
  api = await startTestApi({ environment: { API_TRUSTED_PROXIES: '127.0.0.1' } });
  cases = createRouteCases(api);
});
afterAll(() => api.stop());

type Part = 'query' | 'body';

function hasPeriod(schema: ListedRoute[Part]): boolean {
  const fields = schema !== undefined && 'shape' in schema ? Object.keys(schema.shape as object) : [];
  return fields.includes('since') && fields.includes('until');
}

const parts: readonly Part[] = ['query', 'body'];
const routes = everyRoute().flatMap((route) =>
  parts
    .filter((part) => hasPeriod(route[part]))
    .map((part) => ({ name: `${route.method} ${route.path}`, route, part })),
);

/** Asks for a period, in the place where the route has it. */
async function ask(route: ListedRoute, part: Part, period: Record<string, string>) {
  if (part === 'query') return cases.callWith(route, { query: new URLSearchParams(period).toString() });
  return cases.callWith(route, { body: JSON.stringify({ ...(await cases.validBody(route)), ...period }) });
}

const [early, late] = ['2026-03-01T00:00:00Z', '2026-03-01T02:00:00Z'];

it('deliveries, replays, the audit log, events, statistics and usage have a period', () => {
  expect(routes.map(({ name }) => name).sort()).toEqual([
    'GET /internal/v1/audit',
    'GET /internal/v1/organizations/{id}/deliveries',
    'GET /internal/v1/organizations/{id}/events',
    'GET /v1/events',
    'GET /v1/usage',
    'GET /v1/webhooks/deliveries',
    'GET /v1/webhooks/statistics',
    'POST /internal/v1/webhooks/{id}/replay',
    'POST /v1/webhooks/{id}/replay',
  ]);
});

describe.each(routes)('a period of $name', ({ route, part }) => {
  it.each([
    ['empty', early, early],
    ['empty, in another time zone', early, '2026-03-01T02:00:00+02:00'],
    ['backward', late, early],
  ])('400 when it is %s, and names until', async (_how, since, until) => {
    const answer = await ask(route, part, { since, until });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({
      code: 'validation_failed',
      param: 'until',
      details: [{ location: part, path: 'until', code: 'invalid_value', message: 'must be later than since' }],
    });
  });

  it('is accepted forward', async () => {
    expect((await ask(route, part, { since: early, until: late })).status).toBe(route.status);
  });
});
