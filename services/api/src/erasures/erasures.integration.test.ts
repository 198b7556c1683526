import { createHash } from 'node:crypto';
import { ledgerGauges, readGauges } from '@enterprise-api/shared/ledger';
import { fromPublicId, newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { insertDelivery } from '../testing/rows.ts';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

const path = '/internal/v1/erasures';
const secret = 'con_canary 4711/ä';
const noCounts = { events: 0, bodies: 0, responses: 0, deliveries_canceled: 0, queued: 0 };
let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

const sha256 = (value: string) => createHash('sha256').update(`${organizationId}:${value}`).digest('hex');
const erase = (body: object) => api.internal('post', path).send({ organization_id: organizationId, ...body });
const emit = async (subject: string) => {
  const event = { organization_id: organizationId, type: 'consultation.completed', data: { consultation_id: subject } };
  const { body } = await api.internal('post', '/internal/v1/events').send(event).expect(202);
  return body.data[0].id as string;
};
const ids = () => [newUuid(), newUuid()].map((id) => toPublicId('evt', id));

describe('POST /internal/v1/erasures', () => {
  it('202 with a receipt that hides the subject, as its audit row and the log do', async () => {
    const { body, text } = await erase({ subject: secret, reason: 'TICKET-1' }).expect(202);
    expect(body).toEqual({
      id: expect.stringMatching(/^ers_/),
      object: 'erasure',
      organization_id: organizationId,
      state: 'running',
      selection: { kind: 'subject', sha256: sha256(secret) },
      reason: 'TICKET-1',
      requested_at: expect.any(String),
      completed_at: null,
      counts: noCounts,
    });
    const audit = await api.internal('get', `/internal/v1/audit?object_id=${body.id}`).expect(200);
    expect(audit.body.data).toMatchObject([{ action: 'erasure.requested', organization_id: organizationId }]);
    const rows = await api.db.selectFrom('erasures').selectAll().execute();
    expect(JSON.stringify([text, audit.text, rows, api.logLines])).not.toContain('canary');
    await api.internal('get', `${path}/${body.id}`).expect(200, body);
  });

  it.each([
    [
      'event ids: distinct and sorted',
      () => ids().toReversed(),
      (value: unknown) => (value as string[]).toSorted().join(),
    ],
    ['a time: UTC with milliseconds', () => '2026-11-01T10:00:00+02:00', () => '2026-11-01T08:00:00.000Z'],
    ['everything', () => true, () => 'all'],
  ])('202 with the digest of %s', async (_, select, digested) => {
    const value = select();
    const [selection, kind] = Array.isArray(value)
      ? [{ event_ids: [...value, ...value] }, 'event_ids']
      : value === true
        ? [{ all: true }, 'all']
        : [{ before: value }, 'before'];
    const { body } = await erase({ ...selection, confirm: organizationId }).expect(202);
    expect(body.selection).toEqual({ kind, sha256: sha256(digested(value)) });
  });

  it('200 for a dry run, with what would change; nothing is erased', async () => {
    const id = await emit(secret);
    await emit('con_other');
    const { body } = await erase({ subject: secret, dry_run: true }).expect(200);
    expect(body).toMatchObject({ id: null, counts: { ...noCounts, events: 1, bodies: 1 } });
    expect((await erase({ all: true, confirm: organizationId, dry_run: true }).expect(200)).body.counts.events).toBe(2);
    const listed = await api.internal('get', `${path}?organization_id=${organizationId}`).expect(200);
    expect(listed.body.data).toEqual([]);
    expect((await api.call('get', `/v1/events/${id}`, key).expect(200)).body).toMatchObject({
      erased_at: null,
      data: {},
    });
  });

  it('202 for a subject that nothing has', async () => {
    expect((await erase({ subject: 'con_unknown' }).expect(202)).body.counts).toEqual(noCounts);
  });

  it.each([
    [{}, 'body'],
    [{ subject: 'a', all: true }, 'all'],
    [{ subject: '' }, 'subject'],
    [{ subject: 'x'.repeat(201) }, 'subject'],
    [{ subject: 7 }, 'subject'],
    [{ event_ids: [] }, 'event_ids'],
    [{ event_ids: ['evt_1'] }, 'event_ids[0]'],
    [{ event_ids: Array.from({ length: 1_001 }, () => toPublicId('evt', newUuid())) }, 'event_ids'],
    [{ before: '2026-11-01T00:00:00Z' }, 'confirm'],
    [{ all: true }, 'confirm'],
    [{ all: true, confirm: 'org_01jd6kz5r8e2v9qxm3c7t4b0na' }, 'confirm'],
    [{ all: false }, 'all'],
    [{ subject: 'con_1', reason: 'about con_1' }, 'reason'],
    [{ subject: 'con_1', reason: 'x'.repeat(201) }, 'reason'],
    [{ subject: 'con_1', more: 1 }, 'more'],
  ])('400 for %j', async (body, param) => {
    const answer = await erase(body).expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param });
  });

  it('400 for a time in the future', async () => {
    const before = new Date(Date.now() + 60_000).toISOString();
    const answer = await erase({ before, confirm: organizationId }).expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param: 'before' });
  });

  it('404 for an unknown organization', async () => {
    await erase({ organization_id: 'org_01jd6kz5r8e2v9qxm3c7t4b0na', subject: 'con_1' }).expect(404);
  });

  it('409 for an organization that is being closed', async () => {
    await api.db.updateTable('organizations').set({ state: 'closing' }).execute();
    expect((await erase({ subject: 'con_1' }).expect(409)).body.error.code).toBe('conflict');
    await api.db.updateTable('organizations').set({ state: 'active' }).execute();
  });
});

describe('GET /internal/v1/erasures', () => {
  beforeEach(async () => {
    for (const subject of ['con_1', 'con_2', 'con_3']) await erase({ subject }).expect(202);
  });

  it('200 page by page, newest first, of an organization or in a state', async () => {
    const stranger = await api.createOrganization();
    await api.internal('post', path).send({ organization_id: stranger.id, subject: 'con_1' }).expect(202);
    const of = `organization_id=${organizationId}`;
    const first = (await api.internal('get', `${path}?limit=2&${of}`).expect(200)).body;
    const rest = (await api.internal('get', `${path}?limit=2&${of}&cursor=${first.next_cursor}`).expect(200)).body;
    const shas = [...first.data, ...rest.data].map(({ selection }) => selection.sha256);
    expect(shas).toEqual(['con_3', 'con_2', 'con_1'].map(sha256));
    expect((await api.internal('get', `${path}?${of}&state=completed`).expect(200)).body.data).toEqual([]);
    expect((await api.internal('get', `${path}?${of}&state=running`).expect(200)).body.data).toHaveLength(3);
  });

  it('404 for an unknown id', async () => {
    await api.internal('get', `${path}/ers_01jd6kz5r8e2v9qxm3c7t4b0na`).expect(404);
  });

  it("shows an organization its own receipts, and no other's, at /v1/erasures", async () => {
    const stranger = await api.createKey();
    const own = (await api.call('get', '/v1/erasures', key).expect(200)).body;
    expect(own.data.map(({ selection }: { selection: { sha256: string } }) => selection.sha256)).toEqual(
      ['con_3', 'con_2', 'con_1'].map(sha256),
    );
    expect((await api.call('get', '/v1/erasures', stranger.secret).expect(200)).body.data).toEqual([]);
    const { secret: narrow } = await api.createKey({ organizationId, scopes: ['me:read'] });
    await api.call('get', '/v1/erasures', narrow).expect(403);
  });
});

it('an erased event keeps its place without data; a retry is 409, and a stored answer shows no subject', async () => {
  const webhook = await api.createWebhook(key);
  const { id: delivery, eventId } = await insertDelivery(
    api.db,
    { organizationId, webhookId: webhook.id },
    { status: 'failed', event_type: 'consultation.completed' },
  );
  const event_id = fromPublicId('evt', eventId) ?? '';
  const organization_id = fromPublicId('org', organizationId) ?? '';
  await api.db.insertInto('event_subjects').values({ event_id, organization_id, subject: secret }).execute();
  const retry = () =>
    api.call('post', `/v1/webhooks/deliveries/${delivery}/retry`, key).set('Idempotency-Key', 'erased');
  expect((await retry().expect(202)).body.subject).toBe(secret);
  expect((await retry().expect(202)).body.subject).toBe(secret);
  await api.db.deleteFrom('event_subjects').where('event_id', '=', event_id).execute();
  await api.db.deleteFrom('event_bodies').where('event_id', '=', event_id).execute();
  await api.db.updateTable('events').set({ erased_at: new Date() }).where('id', '=', event_id).execute();
  await api.db.updateTable('deliveries').set({ erased: true, status: 'canceled', canceled_reason: 'erased' }).execute();
  await api.db.deleteFrom('pending_deliveries').execute();
  expect((await retry().expect(202)).body).toMatchObject({ id: delivery, subject: null });
  const shown = { id: eventId, data: null, subject: null, erased_at: expect.any(String) };
  expect((await api.call('get', '/v1/events', key).expect(200)).body.data).toMatchObject([shown]);
  expect((await api.call('get', `/v1/events/${eventId}`, key).expect(200)).body).toMatchObject(shown);
  await api.call('post', `/v1/webhooks/deliveries/${delivery}/retry`, key).expect(409);
  const replay = await api
    .call('post', `/v1/webhooks/${webhook.id}/replay`, key)
    .send({ since: '2026-01-01T00:00:00Z' });
  expect(replay.body.matched).toBe(0);
});

it('GET /internal/v1/erasure-records: erasures, closed organizations and revoked keys, and the age of the export', async () => {
  const [first = ''] = ids();
  await erase({ event_ids: [first] }).expect(202);
  const { id } = await api.createKey({ organizationId });
  await api.internal('delete', `/internal/v1/organizations/${organizationId}/keys/${id}`).expect(204);
  const age = () => readGauges(api.db, ledgerGauges.erasureExport);
  await api.db
    .updateTable('erasures')
    .set({ requested_at: new Date(Date.now() - 9_000_000) })
    .execute();
  expect((await age()).ageSeconds).toBeGreaterThan(8_999);
  const { body } = await api.internal('get', '/internal/v1/erasure-records?limit=100').expect(200);
  expect((await age()).ageSeconds).toBeLessThan(60);
  expect(body.data).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'erasure', selection: expect.objectContaining({ event_ids: [first] }) }),
      expect.objectContaining({ kind: 'revocation', id, organization_id: organizationId }),
    ]),
  );
});
