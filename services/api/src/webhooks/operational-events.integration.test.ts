import { noteDisabledWebhook } from '@enterprise-api/shared/ledger';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { until } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openStream } from '../testing/stream-client.ts';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

const operational = [
  'webhook.failing',
  'webhook.disabled',
  'webhook.recovered',
  'api_key.expiring',
  'api_key.expired',
  'replay.finished',
];
const uuidOf = (prefix: string, id: string) => fromPublicId(prefix, id) as string;
const list = async (query: string) => (await api.call('get', `/v1/events${query}`, key).expect(200)).body.data;

/** A webhook that a worker has disabled, and that its owner has enabled again. */
async function recover(events = ['*']): Promise<string> {
  const { id } = await api.createWebhook(key, { url: 'https://hooks.example.com/in?token=secret', events });
  await sql`update webhooks set state = 'disabled', disabled_reason = 'failing' where id = ${uuidOf('whk', id)}`.execute(
    api.db,
  );
  await api.call('patch', `/v1/webhooks/${id}`, key).send({ enabled: true }).expect(200);
  return id;
}

describe('operational events', () => {
  it.each(operational)('%s is subscribed to by its exact name', async (type) => {
    expect((await api.createWebhook(key, { events: [type, '*'] })).events).toEqual([type, '*']);
  });

  it.each(['webhook.*', 'api_key.*', 'replay.*'])('400 for a subscription to %s', async (pattern) => {
    const body = { url: 'https://hooks.example.com/in', events: [pattern] };
    const { error } = (await api.call('post', '/v1/webhooks', key).send(body).expect(400)).body;
    expect([error.code, error.param]).toEqual(['validation_failed', 'events[0]']);
  });

  it.each([...operational, 'unknown.type'])('400 for a producer that emits %s', async (type) => {
    const event = { organization_id: organizationId, type, data: { webhook: {} } };
    const { error } = (await api.internal('post', '/internal/v1/events').send(event).expect(400)).body;
    expect([error.code, error.param]).toEqual(['validation_failed', 'type']);
  });

  it('enabling a webhook that the service disabled writes webhook.recovered at once; after a manual pause it does not', async () => {
    const id = await recover();
    const [event, ...others] = await list('?type=webhook.recovered');
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'webhook.recovered',
      subject: null,
      data: {
        organization_name: 'Acme',
        webhook: { id, url: 'https://hooks.example.com/in', description: null },
        cause: 'enabled',
        recovered_at: expect.any(String),
      },
    });
    expect((await api.call('get', `/v1/events/${event.id}`, key).expect(200)).body).toEqual(event);
    for (const enabled of [false, true]) {
      await api.call('patch', `/v1/webhooks/${id}`, key).send({ enabled }).expect(200);
    }
    expect(await list('?type=webhook.recovered')).toHaveLength(1);
  });

  it('enabling a webhook writes webhook.recovered if webhook.disabled is the latest event about it, also after a customer disabled it', async () => {
    const { id } = await api.createWebhook(key, { url: 'https://hooks.example.com/in', events: ['*'] });
    await api.db
      .transaction()
      .execute((trx) =>
        noteDisabledWebhook(trx, { id: uuidOf('whk', id), organizationId: uuidOf('org', organizationId) }, 'failing'),
      );
    for (const enabled of [false, true, false, true]) {
      await api.call('patch', `/v1/webhooks/${id}`, key).send({ enabled }).expect(200);
    }
    expect((await list('?type=webhook.recovered')).map(({ data }: { data: object }) => data)).toMatchObject([
      { webhook: { id }, cause: 'enabled' },
    ]);
  });

  it('are in lists and streams under their exact name only', async () => {
    const [all, named] = await Promise.all(
      ['', '?events=webhook.recovered'].map((query) =>
        openStream(`${api.publicUrl}/v1/events/stream${query}`, { Authorization: `Bearer ${key}` }),
      ),
    );
    await recover();
    const emitted = { organization_id: organizationId, type: 'batch.failed', data: { batch_id: 'b' } };
    const { body } = await api.internal('post', '/internal/v1/events').send(emitted).expect(202);
    const [{ id: recoveredId }] = await list('?type=webhook.recovered');
    expect((await list('')).map(({ type }: { type: string }) => type)).toEqual(['batch.failed']);
    expect(await list('?order=asc')).toHaveLength(1);
    const idsOf = (client: typeof all) => (client?.messages ?? []).slice(1).map(({ id }) => id);
    await until('each stream has its event', () => idsOf(all).length > 0 && idsOf(named).length > 0);
    expect([idsOf(all), idsOf(named)]).toEqual([[body.data[0].id], [recoveredId]]);
    all?.close();
    named?.close();
  });

  it('are replayed to a webhook that did not get them, unless they are about it', async () => {
    const events = ['webhook.recovered'];
    const other = await api.createWebhook(key, { events });
    const about = await recover(events);
    await sql`delete from outbox`.execute(api.db);
    const matched = async (id: string) => {
      const body = { since: '2026-01-01T00:00:00Z', status: ['skipped'], dry_run: true };
      return (await api.call('post', `/v1/webhooks/${id}/replay`, key).send(body).expect(200)).body.matched;
    };
    expect([await matched(other.id), await matched(about)]).toEqual([1, 0]);
  });

  it('leave out thresholds that are past when the expiry is set', async () => {
    const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString();
    const { id } = await api.createKey({ organizationId, expires_at: days(6) });
    const skipped = async () => {
      const { rows } = await sql`
        select from event_keys where organization_id = ${uuidOf('org', organizationId)}
          and event_type = 'api_key.expiring'`.execute(api.db);
      return rows.length;
    };
    expect(await skipped()).toBe(1);
    await api
      .internal('patch', `/internal/v1/keys/${id}`)
      .send({ expires_at: days(0.5) })
      .expect(200);
    expect(await skipped()).toBe(3);
    await api
      .internal('patch', `/internal/v1/keys/${id}`)
      .send({ expires_at: days(30) })
      .expect(200);
    expect(await skipped()).toBe(3);
  });

  it('are copied to operators, which internal answers show', async () => {
    const path = `/internal/v1/organizations/${organizationId}`;
    expect((await api.internal('get', path).expect(200)).body.operator).toBe(false);
    const { body } = await api.internal('patch', path).send({ operator: true }).expect(200);
    expect(body.operator).toBe(true);
    const { secret, organization_id } = await api.createKey();
    key = secret;
    await recover();
    const copies = await api.internal('get', `${path}/events?type=webhook.recovered`).expect(200);
    const shown = await api.internal('get', `${path}/events/${copies.body.data[0].id}`).expect(200);
    expect(shown.body.data).toMatchObject({ organization_id, external_id: null, cause: 'enabled' });
    await api.internal('patch', path).send({ operator: false }).expect(200);
  });
});
