import type { AuditEntry, Page } from '@enterprise-api/shared/contracts';
import { writeAuditEntry } from '@enterprise-api/shared/ledger';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { insertDelivery } from '../testing/rows.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

async function list(query = ''): Promise<AuditEntry[]> {
  return (await api.internal('get', `/internal/v1/audit?limit=100${query}`).expect(200)).body.data;
}

const summary = ({ actor, action, object_id, request_id, changed_fields }: AuditEntry) => ({
  actor,
  action,
  object_id,
  request_id,
  changed_fields,
});

describe('the audit log', () => {
  it('has every change of organizations, keys and webhooks, with actor, request and fields', async () => {
    const calls: [action: string, objectId: string, changedFields: string[], actor: string][] = [];
    const noted = (action: string, objectId: string, changedFields: string[], actor = 'internal') => {
      calls.push([action, objectId, changedFields, actor]);
      return `req-${calls.length}`;
    };
    const internal = (method: 'post' | 'patch' | 'delete', path: string) =>
      api.internal(method, path).set('X-Request-Id', `req-${calls.length + 1}`);

    const { body: organization } = await internal('post', '/internal/v1/organizations')
      .send({ name: 'Acme', plan: 'pro' })
      .expect(201);
    noted('organization.created', organization.id, ['name', 'plan']);
    await internal('patch', `/internal/v1/organizations/${organization.id}`)
      .send({ name: 'Acme', plan: 'enterprise' })
      .expect(200);
    noted('organization.updated', organization.id, ['plan']);
    const { body: key } = await internal('post', `/internal/v1/organizations/${organization.id}/keys`)
      .send({ name: 'CI', scopes: ['*'] })
      .expect(201);
    noted('api_key.created', key.id, ['name', 'scopes']);
    await internal('patch', `/internal/v1/keys/${key.id}`)
      .send({ name: 'Build', scopes: ['*'], ip_allowlist: ['127.0.0.1'] })
      .expect(200);
    noted('api_key.updated', key.id, ['name', 'ip_allowlist']);

    const open = (method: 'post' | 'put' | 'delete', path: string) =>
      api.call(method, path, key.secret).set('X-Request-Id', `req-${calls.length + 1}`);
    const fields = { url: 'https://hooks.example.com/in?token=t0ken', events: ['*'] };
    const { body: webhook } = await open('post', '/v1/webhooks').send(fields).expect(201);
    noted('webhook.created', webhook.id, ['url', 'events', 'enabled'], key.id);
    const path = `/v1/webhooks/${webhook.id}`;
    await open('put', path)
      .send({ ...fields, enabled: false })
      .expect(200);
    noted('webhook.updated', webhook.id, ['enabled', 'disabled_reason'], key.id);
    await open('put', path).send(fields).expect(200);
    noted('webhook.updated', webhook.id, [], key.id);
    await open('delete', path).expect(204);
    noted('webhook.deleted', webhook.id, [], key.id);
    await internal('delete', `/internal/v1/keys/${key.id}`).expect(204);
    noted('api_key.deleted', key.id, []);

    const entries = await list(`&organization_id=${organization.id}`);
    const expected = calls.map(([action, object_id, changed_fields, actor], index) => ({
      actor,
      action,
      object_id,
      changed_fields,
      request_id: `req-${index + 1}`,
    }));
    expect(entries.map(summary)).toEqual(expected.toReversed());
    for (const entry of entries) expect(entry.object_type).toBe(entry.action.split('.')[0]);
    const told = JSON.stringify(await api.db.selectFrom('audit_log').selectAll().execute());
    for (const secret of [key.secret, webhook.secret, 't0ken']) expect(told).not.toContain(secret);

    const lines = api.logLines.map((line) => JSON.parse(line)).filter((line) => line.msg === 'audit');
    const logged = lines.filter((line) => line.organization_id === organization.id);
    expect(logged).toEqual(
      expected.map(({ object_id, ...entry }) =>
        expect.objectContaining({ ...entry, object: object_id, level: 'info' }),
      ),
    );
  });

  it('has no entry of requests that changed nothing', async () => {
    const key = await api.createKey();
    const { id } = await api.createWebhook(key.secret);
    const before = (await list()).length;
    await api.call('put', `/v1/webhooks/${id}`, key.secret).send({ url: 'https://10.0.0.1' }).expect(400);
    await api.call('put', `/v1/webhooks/${id}`, key.secret).set('If-Match', '"9"').send({ enabled: true }).expect(412);
    await api.call('delete', '/v1/webhooks/whk_01jd6kz5r8e2v9qxm3c7t4b0na', key.secret).expect(404);
    await api.internal('delete', '/internal/v1/keys/key_01jd6kz5r8e2v9qxm3c7t4b0na').expect(404);
    await api.internal('patch', '/internal/v1/organizations/org_01jd6kz5r8e2v9qxm3c7t4b0na').send({ name: 'x' });
    expect((await list()).length).toBe(before);
  });

  it('has the values before and after of fields that hold no secret', async () => {
    const key = await api.createKey({ scopes: ['webhooks:read', 'webhooks:write'] });
    const { id } = await api.createWebhook(key.secret, { url: 'https://hooks.example.com/in?token=t0ken' });
    const path = `/v1/webhooks/${id}`;
    const change = { url: 'https://hooks.example.com/in?token=other', events: ['batch.*'], enabled: false };
    await api.call('patch', path, key.secret).send(change).expect(200);
    const [updated, created] = await list(`&object_id=${id}`);
    expect(created?.changes).toMatchObject({ url: { from: null, to: 'https://hooks.example.com/in?…' } });
    expect(updated?.changed_fields).toEqual(['url', 'events', 'enabled', 'disabled_reason']);
    expect(updated?.changes).toMatchObject({
      events: { to: ['batch.*'] },
      enabled: { from: true, to: false },
      disabled_reason: { from: null, to: 'manual' },
    });
    await api.call('post', `${path}/rotate-secret`, key.secret).expect(200);
    const [rotated] = await list(`&object_id=${id}`);
    expect(rotated).toMatchObject({ changed_fields: ['secret'], changes: {} });
    const lines = api.logLines.filter((line) => line.includes('"audit"') && line.includes(id));
    expect(lines.join()).not.toContain('hooks.example.com');
  });

  it('has tests, retries and replays', async () => {
    const { secret, id: actor, organization_id } = await api.createKey();
    const { id } = await api.createWebhook(secret);
    await api.call('post', `/v1/webhooks/${id}/test`, secret).expect(202);
    await api.call('post', `/v1/webhooks/${id}/replay`, secret).send({ since: '2026-01-01T00:00:00Z' }).expect(202);
    const place = { organizationId: organization_id, webhookId: id };
    const delivery = await insertDelivery(api.db, place, { status: 'failed' });
    await api.call('post', `/v1/webhooks/deliveries/${delivery.id}/retry`, secret).expect(202);
    const entries = await list(`&organization_id=${organization_id}`);
    expect(entries.slice(0, 3)).toEqual([
      expect.objectContaining({ actor, action: 'delivery.retried', object_type: 'delivery', object_id: delivery.id }),
      expect.objectContaining({ actor, action: 'webhook.replayed', object_id: id, changed_fields: [] }),
      expect.objectContaining({ actor, action: 'webhook.tested', object_id: id }),
    ]);
    expect(await list(`&object_id=${delivery.id}`)).toEqual([entries[0]]);
  });

  it('has the person that an internal caller acts for, and no such claim of a client', async () => {
    const call = api.internal('post', '/internal/v1/organizations').set('X-Actor', 'ada@example.com');
    const { body } = await call.send({ name: 'Acme', plan: 'pro' }).expect(201);
    const of = (id: string) => list(`&object_id=${id}`);
    expect(await of(body.id)).toMatchObject([{ actor: 'internal', on_behalf_of: 'ada@example.com' }]);
    const key = await api.createKey();
    const webhook = await api
      .call('post', '/v1/webhooks', key.secret)
      .set('X-Actor', 'ada@example.com')
      .send({ url: 'https://hooks.example.com/', events: ['*'] })
      .expect(201);
    expect(await of(webhook.body.id)).toMatchObject([{ actor: key.id, on_behalf_of: null }]);
  });

  it.each(['', 'two words', 'x'.repeat(129), 'café'])('400 for X-Actor: %s', async (actor) => {
    const call = api
      .internal('get', '/internal/v1/organizations')
      .set('X-Actor', Buffer.from(actor).toString('latin1'));
    expect((await call.expect(400)).body.error).toMatchObject({ code: 'validation_failed', param: 'X-Actor' });
  });

  it('rolls a change back when its entry cannot be written', async () => {
    const key = await api.createKey();
    const webhook = await api.createWebhook(key.secret);
    const path = `/v1/webhooks/${webhook.id}`;
    const lines = api.logLines.length;
    await sql`alter table audit_log rename to audit_log_away`.execute(api.db);
    await api.call('put', path, key.secret).send({ description: 'x' }).expect(500);
    await api.call('delete', path, key.secret).expect(500);
    await api.internal('delete', `/internal/v1/keys/${key.id}`).expect(500);
    await api
      .internal('patch', `/internal/v1/organizations/${key.organization_id}`)
      .send({ plan: 'starter' })
      .expect(500);
    await sql`alter table audit_log_away rename to audit_log`.execute(api.db);
    const { secret: _secret, ...shown } = webhook;
    await api.call('get', path, key.secret).expect(200, shown);
    expect(api.logLines.slice(lines).some((line) => line.includes('"audit"'))).toBe(false);
  });
});

describe('GET /internal/v1/audit', () => {
  it('200 page by page, newest first', async () => {
    const organization = await api.createOrganization();
    for (const name of ['one', 'two', 'three', 'four']) {
      await api.internal('patch', `/internal/v1/organizations/${organization.id}`).send({ name }).expect(200);
    }
    const whole = await list(`&object_id=${organization.id}`);
    expect(whole[0]).toEqual({
      id: expect.stringMatching(/^aud_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      object: 'audit_entry',
      actor: 'internal',
      action: 'organization.updated',
      object_type: 'organization',
      object_id: organization.id,
      organization_id: organization.id,
      request_id: expect.stringMatching(/^req_/),
      on_behalf_of: null,
      changed_fields: ['name'],
      changes: { name: { from: 'three', to: 'four' } },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const walked: AuditEntry[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const at: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const path: string = `/internal/v1/audit?object_id=${organization.id}&limit=2${at}`;
      const { body }: { body: Page<AuditEntry> } = await api.internal('get', path).expect(200);
      walked.push(...body.data);
      cursor = body.next_cursor;
    }
    expect(walked).toEqual(whole);
    expect(walked).toHaveLength(5);
  });

  it('200 with changes by a worker, without a request id', async () => {
    const key = await api.createKey();
    const { id } = await api.createWebhook(key.secret);
    const entry = {
      actor: 'webhook-worker',
      action: 'webhook.disabled',
      objectId: fromPublicId('whk', id) as string,
      organizationId: fromPublicId('org', key.organization_id) as string,
      requestId: null,
      onBehalfOf: null,
      changedFields: ['enabled', 'disabled_reason'],
      changes: {},
    } as const;
    await api.db.transaction().execute((trx) => writeAuditEntry(trx, entry));
    const [newest] = await list(`&object_id=${id}`);
    expect(newest).toMatchObject({ actor: 'webhook-worker', action: 'webhook.disabled', request_id: null });
  });

  it('200 for each filter, alone and together', async () => {
    const key = await api.createKey();
    const other = await api.createKey();
    const webhook = await api.createWebhook(key.secret);
    await api.createWebhook(other.secret);
    const ofKey = await list(`&organization_id=${key.organization_id}`);
    expect(ofKey.map((entry) => entry.action)).toEqual(['webhook.created', 'api_key.created', 'organization.created']);
    expect((await list(`&object_id=${webhook.id}`)).map((entry) => entry.object_id)).toEqual([webhook.id]);
    const both = `&organization_id=${key.organization_id}&action=webhook.created`;
    expect((await list(both)).map((entry) => entry.object_id)).toEqual([webhook.id]);
    expect(await list(`&organization_id=${other.organization_id}&object_id=${webhook.id}`)).toEqual([]);
    // The same UUID under another prefix names another object.
    expect(await list(`&object_id=${webhook.id.replace('whk', 'key')}`)).toEqual([]);
    const actions = new Set((await list('&action=api_key.created')).map((entry) => entry.action));
    expect([...actions]).toEqual(['api_key.created']);
  });

  it('200 from `since` (inclusive) to `until` (exclusive)', async () => {
    const key = await api.createKey();
    const organization = `&organization_id=${key.organization_id}`;
    const times = ['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'];
    const [newest, oldest] = await list(organization);
    await sql`update audit_log set created_at = ${times[1]} where id = ${fromPublicId('aud', newest?.id ?? '')}`.execute(
      api.db,
    );
    await sql`update audit_log set created_at = ${times[0]} where id = ${fromPublicId('aud', oldest?.id ?? '')}`.execute(
      api.db,
    );
    const between = async (query: string) => (await list(organization + query)).map((entry) => entry.created_at);
    expect(await between(`&since=${times[0]}`)).toEqual([times[1], times[0]]);
    expect(await between(`&until=${times[1]}`)).toEqual([times[0]]);
    expect(await between(`&since=${times[0]}&until=${times[1]}`)).toEqual([times[0]]);
    expect(await between(`&since=${times[1]}`)).toEqual([times[1]]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['since=2026-03-01T00:00:00Z&until=2026-03-01T00:00:00Z', 'until'],
    ['action=webhook.painted', 'action'],
    ['action=webhook.created&action=webhook.deleted', 'action'],
    ['organization_id=org_1', 'organization_id'],
    ['organization_id=whk_01jd6kz5r8e2v9qxm3c7t4b0na', 'organization_id'],
    ['object_id=att_01jd6kz5r8e2v9qxm3c7t4b0na', 'object_id'],
    ['since=yesterday', 'since'],
    ['actor=internal', 'actor'],
  ])('400 for ?%s', async (query, param) => {
    const answer = await api.internal('get', `/internal/v1/audit?${query}`).expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param });
  });

  it('400 for a cursor of other filters', async () => {
    await api.createKey();
    const { next_cursor } = (await api.internal('get', '/internal/v1/audit?limit=1').expect(200)).body;
    const answer = await api
      .internal('get', `/internal/v1/audit?action=api_key.created&cursor=${next_cursor}`)
      .expect(400);
    expect(answer.body.error).toMatchObject({ code: 'invalid_cursor', param: 'cursor' });
  });

  it('401 without the secret, 404 on the public listener', async () => {
    await api.internal('get', '/internal/v1/audit').set('Authorization', 'Bearer wrong').expect(401);
    await api.call('get', '/internal/v1/audit', (await api.createKey()).secret).expect(404);
  });
});
