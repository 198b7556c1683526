import { fromPublicId } from '@enterprise-api/shared/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { askConsole, codeOf, enterSession, mintByKey, mintSession } from '../testing/console-client.ts';
import { everyRoute } from '../testing/route-list.ts';
import { insertAttempt, insertDelivery } from '../testing/rows.ts';
import { openStream } from '../testing/stream-client.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

const readScopes = ['me:read', 'webhooks:read', 'usage:read', 'keys:read'];
const canary = 'canary-7f3a';
let api: TestApi;
let organizationId: string;
let key: { id: string; secret: string };
let ids: { evt: string; dlv: string; whk: string };
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  organizationId = (await api.createOrganization()).id;
  key = await api.createKey({ organizationId });
  const { id: whk } = await api.createWebhook(key.secret);
  const { id: dlv, eventId: evt } = await insertDelivery(api.db, { organizationId, webhookId: whk });
  ids = { evt, dlv, whk };
  await insertAttempt(api.db, dlv, { number: 1, webhook_version: 1 });
  await insertAttempt(api.db, dlv, { number: 2, webhook_version: 1, status_code: 302 });
  const delivery_id = fromPublicId('dlv', dlv) as string;
  const answer = {
    excerpt: canary,
    remote_address: '192.0.2.77',
    response_headers: { server: canary },
  };
  await api.db.updateTable('attempts').set(answer).where('delivery_id', '=', delivery_id).execute();
  const redirect = { error: 'redirect', error_message: `The receiver redirects to https://${canary}.test/.` } as const;
  await api.db.updateTable('attempts').set(redirect).where('number', '=', 2).execute();
  const body = JSON.stringify({ id: evt, type: 'batch.completed', data: { batch_id: canary } });
  const event_id = fromPublicId('evt', evt) as string;
  await api.db.updateTable('event_bodies').set({ body }).where('event_id', '=', event_id).execute();
});

const enter = (body: object) => enterSession(api, mintSession(api, organizationId, { scopes: readScopes, ...body }));
const ask = (method: 'get' | 'post', path: string, cookie: string) =>
  askConsole(api, method, `/${organizationId}${path}`, cookie);

/** Every path of `/v1` and of the console that a session may read, with ids of objects that exist. */
const readPaths = () => [
  ...everyRoute()
    .filter(({ method, path, streams }) => method === 'GET' && path.startsWith('/v1/') && streams === undefined)
    .filter(
      ({ path }) =>
        !path.startsWith('/v1/console-sessions') && !path.includes('/replays/{') && !path.startsWith('/v1/erasures'),
    )
    .map(({ path, ids: kinds }) =>
      path.replace(/\{(\w+)\}/g, (_, name) => ids[(kinds as Record<string, 'evt'>)[name] as 'evt'] ?? name),
    ),
  '/session',
  '/keys',
  '/audit',
];

describe('a session with show_bodies false', () => {
  it('reads every route without a body, header or address of the receiver, and without a redirect’s target', async () => {
    const [blind, seeing] = [await enter({ show_bodies: false }), await enter({})];
    const shown: string[] = [];
    for (const path of readPaths()) {
      const answer = await ask('get', path, blind.cookie);
      expect([path, answer.status]).toEqual([path, 200]);
      expect([path, `${answer.text}${JSON.stringify(answer.headers)}`]).not.toEqual([
        path,
        expect.stringMatching(/canary-7f3a|192\.0\.2\.77/),
      ]);
      const { text } = await ask('get', path, seeing.cookie).expect(200);
      if (text.includes(canary)) shown.push(path);
    }
    expect(shown.sort()).toEqual(['/v1/events', `/v1/events/${ids.evt}`, `/v1/webhooks/deliveries/${ids.dlv}`]);
  });

  it('learns what failed, but not in words of the receiver', async () => {
    const { cookie } = await enter({ show_bodies: false });
    const path = `/v1/webhooks/deliveries/${ids.dlv}`;
    const { body } = await ask('get', path, cookie).expect(200);
    const hidden = { error_message: null, response_body: null, response_headers: null, remote_address: null };
    expect(body.attempts).toEqual([
      expect.objectContaining({ number: 2, status_code: 302, error: 'redirect', ...hidden }),
      expect.objectContaining({ number: 1, status_code: 500, error: 'http_error', ...hidden }),
    ]);
    expect(body.request.body).toBeNull();
    const message = 'The connection to the receiver was lost.';
    const lost = { error: 'connection_reset', error_message: message } as const;
    await api.db.updateTable('attempts').set(lost).where('number', '=', 1).execute();
    const again = await ask('get', path, cookie).expect(200);
    expect(again.body.attempts[1]).toMatchObject({ error: 'connection_reset', error_message: message });
  });

  it.each(['internal', 'key'])('cannot guess a body by searches, streams or signatures: minted by %s', async (by) => {
    const body = { show_bodies: false, scopes: readScopes.slice(0, 3) };
    const { cookie } = await (by === 'key' ? enterSession(api, mintByKey(api, key, body)) : enter(body));
    const signature = { headers: { 'webhook-id': ids.evt, 'X-Service-Signature': '0'.repeat(64) }, body: '{}' };
    const refused = [
      ask('get', '/v1/events?q=canary', cookie),
      ask('get', '/v1/events?limit=1&q=canary', cookie),
      ask('get', '/v1/events?%71=canary', cookie),
      ask('get', '/v1/events?q=canary&q=other', cookie),
      ask('get', '/v1/events/stream', cookie),
      ask('get', `/v1/events/stream?after=${ids.evt}`, cookie),
      ask('post', `/v1/webhooks/${ids.whk}/verify-signature`, cookie).send(signature),
    ];
    for (const test of refused) expect([test.url, codeOf(await test.expect(403))]).toEqual([test.url, 'bodies_hidden']);
  });
});

describe('a session with show_bodies true', () => {
  const readsOf = async (id: string) => {
    const { body } = await api.internal('get', `/internal/v1/audit?object_id=${id}`).expect(200);
    return body.data.map(({ action, actor }: Record<string, string>) => `${action} ${actor}`);
  };

  it.each([
    ['a delivery', () => `/v1/webhooks/deliveries/${ids.dlv}`],
    ['an event', () => `/v1/events/${ids.evt}`],
    ['a search', () => '/v1/events?q=canary'],
  ])("leaves one event.read where the owner's staff reads %s", async (_, pathOf) => {
    const staff = await enter({});
    const { text } = await ask('get', pathOf(), staff.cookie).expect(200);
    expect(text).toContain(canary);
    expect(await readsOf(ids.evt)).toEqual([`event.read ${staff.id}`]);
    await ask('get', pathOf(), staff.cookie).expect(200);
    const customer = await enterSession(api, mintByKey(api, key));
    await ask('get', pathOf(), customer.cookie).expect(200);
    expect(await readsOf(ids.evt)).toEqual([`event.read ${staff.id}`]);
  });

  it('leaves none where no body is read', async () => {
    const [staff, blind] = [await enter({}), await enter({ show_bodies: false })];
    await ask('get', '/v1/webhooks/deliveries', staff.cookie).expect(200);
    await ask('get', `/v1/events/${ids.evt}/explain`, staff.cookie).expect(200);
    await ask('get', `/v1/webhooks/deliveries/${ids.dlv}`, blind.cookie).expect(200);
    expect(await readsOf(ids.evt)).toEqual([]);
  });

  it("streams for a customer, but not for the owner's staff, whose reads the audit log names", async () => {
    const open = (cookie: string) => {
      const url = `${api.publicUrl}/console/api/${organizationId}/v1/events/stream`;
      return openStream(url, { Cookie: cookie, 'X-Console': '1' });
    };
    const customer = await enterSession(api, mintByKey(api, key));
    const stream = await open(customer.cookie);
    expect(stream.answer.status).toBe(200);
    const event = { organization_id: organizationId, type: 'batch.completed', data: { batch_id: canary } };
    const { body } = await api.internal('post', '/internal/v1/events').send(event).expect(202);
    expect(await stream.ids(1)).toEqual([body.data[0].id]);
    expect(stream.text()).toContain(canary);
    stream.close();
    const { answer } = await open((await enter({})).cookie);
    expect([answer.status, answer.body.error.code]).toEqual([403, 'bodies_hidden']);
  });
});
