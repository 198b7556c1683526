import { once } from 'node:events';
import { type IncomingMessage, get as requestGet } from 'node:http';
import { createTestDatabase, lowest, queueBackends, startUpstream, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStream } from '../testing/stream-client.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

/** A closing reaches every process within this time, and a process that missed the push within the second. */
const pushedWithinMs = 1_000;
const unpushedWithinMs = 5_000;
const waits = { withinMs: 30_000, everyMs: 10 };
const path = '/internal/v1/organizations';
const unknownId = 'org_01jd6kz5r8e2v9qxm3c7t4b0na';

describe.each(queueBackends())('closing an organization, with the queue on $name', ({ name, start }) => {
  const resources = new AsyncDisposableStack();
  let one: TestApi;
  let two: TestApi;
  /** Listens to the other kind of push, so that no change reaches it. */
  let deaf: TestApi;
  beforeAll(async () => {
    const store = await start();
    resources.defer(store.close);
    const database = await createTestDatabase();
    resources.defer(database.drop);
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    const upstream = resources.use(await startUpstream({ answer: () => `${head}4\r\nbody\r\n` }));
    const silent = await queueBackends()
      .find((other) => other.name !== name)
      ?.start();
    resources.defer(async () => silent?.close());
    const startOn = (redisUrl = '') => {
      const environment = { API_UPSTREAMS: `consultations=${upstream.url}`, REDIS_URL: redisUrl };
      return startTestApi({ database, environment });
    };
    const apis = await Promise.all([startOn(store.redisUrl), startOn(store.redisUrl), startOn(silent?.redisUrl)]);
    [one, two, deaf] = apis;
    resources.defer(async () => void (await Promise.all(apis.map((api) => api.stop()))));
  });
  afterAll(() => resources.disposeAsync());

  const close = (id: string, fields: object = {}) =>
    one.internal('post', `${path}/${id}/close`).send({ confirm: id, ...fields });

  /** An answer of the internal service that never ends. */
  async function openForwarded(api: TestApi, key: string): Promise<IncomingMessage> {
    const request = requestGet(`${api.publicUrl}/v1/consultations/1`, { headers: { Authorization: `Bearer ${key}` } });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined).resume();
    return answer;
  }

  it('202 with the organization, and again with its state as it is', async () => {
    const organization = await one.createOrganization();
    await one.internal('patch', `${path}/${organization.id}`).send({ external_id: 'crm/closing' }).expect(200);
    const { body } = await close(organization.id, { erase_after: 60 }).expect(202);
    expect(body).toEqual({ ...organization, external_id: null, state: 'closing', closed_at: null });
    expect((await close(organization.id).expect(202)).body).toEqual(body);
    expect((await one.internal('get', `${path}/${organization.id}`).expect(200)).body).toEqual(body);
    const audit = await one.internal('get', `/internal/v1/audit?object_id=${organization.id}`).expect(200);
    const closings = audit.body.data.filter(({ action }: { action: string }) => action === 'organization.closed');
    expect(closings).toMatchObject([
      {
        organization_id: organization.id,
        changes: {
          external_id: { from: 'crm/closing', to: null },
          state: { from: 'active', to: 'closing' },
        },
      },
    ]);
    const next = { name: 'Next', plan: 'pro', external_id: 'crm/closing' };
    await one.internal('post', path).send(next).expect(201);
  });

  it.each([
    [{}, 'confirm'],
    [{ confirm: unknownId }, 'confirm'],
    [{ confirm: unknownId, erase_after: -1 }, 'erase_after'],
    [{ confirm: unknownId, erase_after: 2_592_001 }, 'erase_after'],
  ])('400 for %j, and the organization stays active', async (body, param) => {
    const { id } = await one.createOrganization();
    const refused = await one.internal('post', `${path}/${id}/close`).send(body).expect(400);
    expect(refused.body.error).toMatchObject({ code: 'validation_failed', param });
    expect((await one.internal('get', `${path}/${id}`).expect(200)).body.state).toBe('active');
  });

  it('404 for an unknown organization', async () => {
    await close(unknownId).expect(404);
  });

  it.each([
    ['within a second on another process', () => two, pushedWithinMs],
    ['within 5 s on a process that missed the push', () => deaf, unpushedWithinMs],
  ])('refuses keys and events and ends streams and forwarded answers %s', async (_where, process, promisedMs) => {
    const there = process();
    const other = await one.createKey();
    const tookMs = await lowest(promisedMs, async () => {
      const { id, organization_id: organizationId, secret } = await one.createKey();
      const event = { organization_id: organizationId, type: 'batch.failed', data: { batch_id: 'b' } };
      const emit = () => there.internal('post', '/internal/v1/events').send({ events: [event] });
      await emit().expect(202);
      const streams = await Promise.all(
        [other, { secret }].map((key) =>
          openStream(`${there.publicUrl}/v1/events/stream`, { Authorization: `Bearer ${key.secret}` }),
        ),
      );
      const forwarded = await Promise.all([openForwarded(there, other.secret), openForwarded(there, secret)]);
      await close(organizationId).expect(202);
      const from = performance.now();
      const me = async () => (await there.call('get', '/v1/me', secret)).status;
      await until('the key is refused', me, { ...waits, holds: (status) => status === 401 });
      await until('events are refused', async () => (await emit()).status, {
        ...waits,
        holds: (status) => status === 400,
      });
      await until('the stream ends', () => streams[1]?.isOver() === true, waits);
      await until('the forwarded answer ends', () => forwarded[1]?.destroyed === true, waits);
      const took = performance.now() - from;
      const asked = { 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': '/v1/me', 'X-Forwarded-For': '127.0.0.1' };
      await there
        .internal('get', '/internal/v1/authorize')
        .set({
          ...asked,
          'X-Internal-Authorization': `Bearer ${there.internalSecret}`,
          Authorization: `Bearer ${secret}`,
        })
        .expect(401);
      const refused = (await emit().expect(400)).body.error;
      expect(refused).toMatchObject({ code: 'validation_failed', param: 'events[0].organization_id' });
      expect([streams[0]?.isOver(), forwarded[0]?.destroyed]).toEqual([false, false]);
      expect((await one.internal('get', `/internal/v1/organizations/${organizationId}/keys/${id}`)).status).toBe(200);
      for (const stream of streams) stream.close();
      for (const answer of forwarded) answer.destroy();
      return took;
    });
    expect(tookMs).toBeLessThanOrEqual(promisedMs);
  });

  it('creates no webhook on a process that missed the push, while its key is cached there', async () => {
    const { organization_id: id, secret } = await one.createKey();
    await deaf.call('get', '/v1/me', secret).expect(200);
    await close(id).expect(202);
    const webhook = { url: 'https://hooks.example.com/in', events: ['*'] };
    await deaf.call('post', '/v1/webhooks', secret).send(webhook).expect(401);
  });

  it('409 for every later change, and reads still work', async () => {
    const { id: keyId, organization_id: id, secret } = await one.createKey();
    const webhook = await one.createWebhook(secret);
    await close(id, { erase_after: 60 }).expect(202);
    for (const [method, changed, body] of [
      ['patch', `${path}/${id}`, { name: 'x' }],
      ['post', `${path}/${id}/keys`, { name: 'x', scopes: ['*'] }],
      ['patch', `/internal/v1/keys/${keyId}`, { name: 'x' }],
      ['delete', `/internal/v1/keys/${keyId}`, undefined],
      ['post', '/internal/v1/sending', { organization_id: id, paused: true }],
      ['patch', `/internal/v1/webhooks/${webhook.id}`, { enabled: false }],
      ['post', `/internal/v1/webhooks/${webhook.id}/replay`, { since: new Date(0).toISOString() }],
    ] as const) {
      const refused = await one.internal(method, changed).send(body);
      expect([changed, refused.status, refused.body.error?.code]).toEqual([changed, 409, 'conflict']);
    }
    for (const read of ['', '/keys', '/webhooks', '/deliveries'])
      await one.internal('get', `${path}/${id}${read}`).expect(200);
    await one.internal('get', `/internal/v1/sending?organization_id=${id}`).expect(200);
  });
});
