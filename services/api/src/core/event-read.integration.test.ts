import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createRouteCases, type RouteCases } from '../testing/route-cases.ts';
import { everyRoute } from '../testing/route-list.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
let cases: RouteCases;
beforeAll(async () => {
  api = await startTestApi({ environment: { API_TRUSTED_PROXIES: '127.0.0.1' } });
  cases = createRouteCases(api);
});
afterAll(() => api.stop());

const audited = everyRoute().filter((route) => route.audited);

it('the internal answers that hold the data of an event or a response_body are in the audit log', () => {
  const paths = ['/internal/v1/deliveries/{id}', '/internal/v1/organizations/{id}/events/{event_id}'];
  expect(audited.map(({ path }) => path).sort()).toEqual(paths);
});

describe.each(audited.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_name, route) => {
  const read = () => cases.callWith(route, { headers: { 'X-Actor': 'ada@example.com' } });

  it('writes who read what, with the person that the caller acts for', async () => {
    const { status, body } = await read();
    expect(status).toBe(200);
    const { data } = (await api.internal('get', '/internal/v1/audit?action=event.read&limit=1').expect(200)).body;
    expect(data).toEqual([
      expect.objectContaining({
        actor: 'internal',
        object_type: 'event',
        object_id: body.delivery?.event_id ?? body.id,
        organization_id: await cases.organizationId(),
        on_behalf_of: 'ada@example.com',
        changes: {},
      }),
    ]);
  });

  it('503 and nothing else when that cannot be written', async () => {
    await read();
    await sql`alter table audit_log rename to audit_log_away`.execute(api.db);
    const { status, body } = await read();
    await sql`alter table audit_log_away rename to audit_log`.execute(api.db);
    expect([status, Object.keys(body), body.error.code]).toEqual([503, ['error'], 'service_unavailable']);
  });
});
