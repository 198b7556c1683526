import { once } from 'node:events';
import { type IncomingMessage, get as requestGet } from 'node:http';
import { createTestDatabase, lowest, queueBackends, startUpstream, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStream } from '../testing/stream-client.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

/** A pushed change reaches every process within this time. */
const promisedMs = 1_000;
const waits = { withinMs: 30_000, everyMs: 10 };
const path = '/internal/v1/organizations';
const unknownId = 'org_01jd6kz5r8e2v9qxm3c7t4b0na';

describe.each(queueBackends())('closing an organization, with the queue on $name', ({ start }) => {
  const resources = new AsyncDisposableStack();
  let one: TestApi;
  let two: TestApi;
  beforeAll(async () => {
    const store = await start();
    resources.defer(store.close);
    const database = await createTestDatabase();
    resources.defer(database.drop);
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    const upstream = resources.use(await startUpstream({ answer: () => `${head}4\r\nbody\r\n` }));
    const environment = {
      API_UPSTREAMS: `consultations=${upstream.url}`,
      ...(store.redisUrl !== undefined && { REDIS_URL: store.redisUrl }),
    };
    [one, two] = await Promise.all([startTestApi({ database, environment }), startTestApi({ database, environment })]);
    resources.defer(async () => void (await Promise.all([one.stop(), two.stop()])));
  });
  afterAll(() => resources.disposeAsync());

  const close = (id: string, fields: object = {}) =>
    one.internal('post', `${path}/${id}/close`).send({ confirm: id, ...fields });

  /** An answer of the internal service that never ends, through the second process. */
  async function openForwarded(key: string): Promise<IncomingMessage> {
    const request = requestGet(`${two.publicUrl}/v1/consultations/1`, { headers: { Authorization: `Bearer ${key}` } });
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

  it('refuses its keys and events and ends its streams and forwarded answers on another process within a second', async () => {
    const other = await one.createKey();
    const tookMs = await lowest(promisedMs, async () => {
      const { id, organization_id: organizationId, secret } = await one.createKey();
      const event = { organization_id: organizationId, type: 'batch.failed', data: { batch_id: 'b' } };
      const emit = () => two.internal('post', '/internal/v1/events').send({ events: [event] });
      await emit().expect(202);
      const streams = await Promise.all(
        [other, { secret }].map((key) =>
          openStream(`${two.publicUrl}/v1/events/stream`, { Authorization: `Bearer ${key.secret}` }),
        ),
      );
      const forwarded = await Promise.all([openForwarded(other.secret), openForwarded(secret)]);
      await close(organizationId).expect(202);
      const from = performance.now();
      const me = async () => (await two.call('get', '/v1/me', secret)).status;
      await until('the key is refused', me, { ...waits, holds: (status) => status === 401 });
      await until('events are refused', async () => (await emit()).status, {
        ...waits,
        holds: (status) => status === 400,
      });
      await until('the stream ends', () => streams[1]?.isOver() === true, waits);
      await until('the forwarded answer ends', () => forwarded[1]?.destroyed === true, waits);
      const took = performance.now() - from;
      const asked = { 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': '/v1/me', 'X-Forwarded-For': '127.0.0.1' };
      await two
        .internal('get', '/internal/v1/authorize')
        .set({
          ...asked,
          'X-Internal-Authorization': `Bearer ${two.internalSecret}`,
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

  it('409 for every later change, and reads still work', async () => {
    const { id: keyId, organization_id: id, secret } = await one.createKey();
    await one.createWebhook(secret);
    await close(id, { erase_after: 60 }).expect(202);
    for (const [method, changed, body] of [
      ['patch', `${path}/${id}`, { name: 'x' }],
      ['post', `${path}/${id}/keys`, { name: 'x', scopes: ['*'] }],
      ['patch', `/internal/v1/keys/${keyId}`, { name: 'x' }],
      ['delete', `/internal/v1/keys/${keyId}`, undefined],
      ['post', '/internal/v1/sending', { organization_id: id, paused: true }],
    ] as const) {
      const refused = await one.internal(method, changed).send(body);
      expect([changed, refused.status, refused.body.error?.code]).toEqual([changed, 409, 'conflict']);
    }
    for (const read of ['', '/keys', '/webhooks', '/deliveries'])
      await one.internal('get', `${path}/${id}${read}`).expect(200);
    await one.internal('get', `/internal/v1/sending?organization_id=${id}`).expect(200);
  });
});
