import { webhookSecretContext } from '@enterprise-api/shared/contracts';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { createSecretBox } from '@enterprise-api/shared/security';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type TestApi, testConfig, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

const box = createSecretBox(testConfig({ DATABASE_URL: 'postgres://x' }).keyRing);
const uuidOf = (webhookId: string) => fromPublicId('whk', webhookId) as string;
const rotate = (id: string, body?: object) => {
  const call = api.call('post', `/v1/webhooks/${id}/rotate-secret`, key);
  return body === undefined ? call : call.send(body);
};

/** The current secret, the previous one, and the seconds until that expires. */
async function secretsOf(webhookId: string) {
  const row = await api.db
    .selectFrom('webhooks')
    .select(['secret_sealed', 'previous_secret_sealed', 'version'])
    .select(
      sql<number | null>`extract(epoch from previous_secret_expires_at - clock_timestamp())::float8`.as('seconds'),
    )
    .where('id', '=', uuidOf(webhookId))
    .executeTakeFirstOrThrow();
  const context = webhookSecretContext(fromPublicId('org', organizationId) as string, uuidOf(webhookId));
  const open = (sealed: string | null) => (sealed === null ? null : box.open(sealed, context));
  return { ...row, current: open(row.secret_sealed), previous: open(row.previous_secret_sealed) };
}

describe('POST /v1/webhooks/{id}/rotate-secret', () => {
  it('200 with the webhook and its new secret; the old one stays in use for a day', async () => {
    const { secret: old, ...before } = await api.createWebhook(key);
    const answer = await rotate(before.id).expect(200);
    const { secret, ...webhook } = answer.body;
    expect(webhook).toEqual({
      ...before,
      updated_at: expect.any(String),
      previous_secret_expires_at: expect.any(String),
    });
    expect(Math.abs(Date.parse(webhook.previous_secret_expires_at) - Date.now() - 86_400_000)).toBeLessThan(60_000);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secret).not.toBe(old);
    expect(answer.headers.etag).toMatch(/^"2-/);
    const { current, previous, seconds } = await secretsOf(webhook.id);
    expect([current, previous]).toEqual([secret, old]);
    expect(Math.abs((seconds ?? 0) - 86_400)).toBeLessThan(60);
    const shown = await api.call('get', `/v1/webhooks/${webhook.id}`, key).expect(200);
    expect(shown.body).toEqual(webhook);
    expect(shown.headers.etag).toBe(answer.headers.etag);
  });

  it('200 with the requested overlap, or none', async () => {
    const { id } = await api.createWebhook(key);
    await rotate(id, { overlap_seconds: 604_800 }).expect(200);
    expect((await secretsOf(id)).seconds).toBeGreaterThan(604_000);
    const { body } = await rotate(id, { overlap_seconds: 0, force: true }).expect(200);
    expect(await secretsOf(id)).toMatchObject({ current: body.secret, previous: null, seconds: null });
    await rotate(id).expect(200);
  });

  it('200 with force inside an overlap: the newest two are in use', async () => {
    const { id } = await api.createWebhook(key);
    const second = await rotate(id).expect(200);
    const third = await rotate(id, { force: true }).expect(200);
    expect(await secretsOf(id)).toMatchObject({ current: third.body.secret, previous: second.body.secret });
  });

  it('200 again when the overlap is over', async () => {
    const { id } = await api.createWebhook(key);
    await rotate(id).expect(200);
    await sql`update webhooks set previous_secret_expires_at = clock_timestamp() where id = ${uuidOf(id)}`.execute(
      api.db,
    );
    const shown = await api.call('get', `/v1/webhooks/${id}`, key).expect(200);
    expect(shown.body.previous_secret_expires_at).toBeNull();
    await rotate(id).expect(200);
  });

  it('200 for a disabled webhook, which stays disabled', async () => {
    const { id } = await api.createWebhook(key, { enabled: false });
    expect((await rotate(id).expect(200)).body).toMatchObject({ enabled: false, disabled_reason: 'manual' });
  });

  it('200 with the same secret for the same Idempotency-Key', async () => {
    const { id } = await api.createWebhook(key);
    const [first, second] = [
      await rotate(id).set('Idempotency-Key', 'once').expect(200),
      await rotate(id).set('Idempotency-Key', 'once').expect(200),
    ];
    expect(second.body).toEqual(first.body);
    expect(await secretsOf(id)).toMatchObject({ current: first.body.secret, version: 2 });
  });

  it('writes the rotation to the audit log, without the secret', async () => {
    const { id } = await api.createWebhook(key);
    const { body } = await rotate(id).expect(200);
    const audit = await api.internal('get', `/internal/v1/audit?object_id=${id}`).expect(200);
    expect(audit.body.data[0]).toMatchObject({ action: 'webhook.secret_rotated', changed_fields: ['secret'] });
    expect(JSON.stringify([audit.body, api.logLines])).not.toContain(body.secret.slice(6));
  });

  it.each([
    [{ overlap_seconds: -1 }, 'overlap_seconds'],
    [{ overlap_seconds: 604_801 }, 'overlap_seconds'],
    [{ overlap_seconds: 1.5 }, 'overlap_seconds'],
    [{ overlap_seconds: '60' }, 'overlap_seconds'],
    [{ force: 'yes' }, 'force'],
    [{ secret: 'whsec_mine' }, 'secret'],
  ])('400 for %j', async (body, param) => {
    const { id } = await api.createWebhook(key);
    const answer = await rotate(id, body).expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param });
  });

  it('404 for a deleted webhook', async () => {
    const { id } = await api.createWebhook(key);
    await api.call('delete', `/v1/webhooks/${id}`, key).expect(204);
    await rotate(id).expect(404);
  });

  it('409 inside an open overlap: nothing changes', async () => {
    const { id } = await api.createWebhook(key);
    await rotate(id, { overlap_seconds: 60 }).expect(200);
    const before = await secretsOf(id);
    const answer = await rotate(id).expect(409);
    expect(answer.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('"force": true') });
    expect(await secretsOf(id)).toMatchObject({ current: before.current, version: before.version });
  });

  it('409 for all but one of several at once', async () => {
    const { id } = await api.createWebhook(key);
    const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  });
});
