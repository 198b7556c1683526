import type { SignatureCheck, WebhookWithSecret } from '@enterprise-api/shared/contracts';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { signHeaders, signingKey } from '@enterprise-api/shared/security';
import { describe, expect, it } from '@jest/globals';
import { insertAttempt, insertDelivery } from '../testing/rows.ts';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

const verify = (id: string, body: object, withKey = key) =>
  api.call('post', `/v1/webhooks/${id}/verify-signature`, withKey).send(body);

/** A delivery of a new webhook, with its stored body. */
async function deliver() {
  const webhook = await api.createWebhook(key);
  const delivery = await insertDelivery(api.db, { organizationId, webhookId: webhook.id }, { status: 'failed' });
  const { body } = await api.db
    .selectFrom('event_bodies')
    .select('body')
    .where('event_id', '=', fromPublicId('evt', delivery.eventId) as string)
    .executeTakeFirstOrThrow();
  return { webhook, delivery, body };
}

function sign(secret: string, eventId: string, body: string, old: string | null = null) {
  const headers: Record<string, string> = {
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
  };
  signHeaders(headers, body, { current: signingKey(secret), old: old === null ? null : signingKey(old) });
  return headers;
}

const causes = ({ checks }: SignatureCheck) => checks.map(({ cause }) => cause);

describe('POST /v1/webhooks/{id}/verify-signature', () => {
  it('200 for a right request: text or base64, names in any case, values as lists', async () => {
    const { webhook, delivery, body } = await deliver();
    const headers = sign(webhook.secret, delivery.eventId, body);
    const { body: check } = await verify(webhook.id, { headers, body }).expect(200);
    expect(check).toMatchObject({ object: 'signature_check', valid: true, delivery_id: delivery.id, computed: null });
    expect(causes(check)).toEqual(['ok', 'ok']);
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
    const base64 = { headers: lists, body_base64: Buffer.from(body).toString('base64') };
    const computed = headers['X-Service-Signature'];
    expect((await verify(webhook.id, { ...base64, computed }).expect(200)).body).toMatchObject({
      valid: true,
      computed: 'correct',
    });
  });

  it('200 with the cause, from the stored body and the attempts', async () => {
    const { webhook, delivery, body } = await deliver();
    await insertAttempt(api.db, delivery.id, { number: 1, webhook_version: 1 });
    const headers = sign(webhook.secret, delivery.eventId, body);
    const reserialized = JSON.stringify(JSON.parse(body), null, 2);
    const { body: check } = await verify(webhook.id, { headers, body: reserialized }).expect(200);
    expect(causes(check)).toEqual(['body_reserialized', 'body_reserialized']);
    const late = await verify(webhook.id, { headers, body }).expect(200);
    expect(causes(late.body)).toEqual(['ok', 'timestamp_skew']);
    const other = await api.createWebhook(key);
    const confused = await verify(other.id, { headers, body }).expect(200);
    expect(confused.body).toMatchObject({ valid: false, delivery_id: null });
    expect(confused.body.checks).toMatchObject(Array(2).fill({ cause: 'other_webhook', webhook_id: webhook.id }));
  });

  it('200 during an overlap: the previous secret is right, and unknown once the overlap ends', async () => {
    const { webhook, delivery, body } = await deliver();
    const rotate = async (fields: object) =>
      (await api.call('post', `/v1/webhooks/${webhook.id}/rotate-secret`, key).send(fields).expect(200))
        .body as WebhookWithSecret;
    const { secret } = await rotate({});
    const headers = sign(secret, delivery.eventId, body, webhook.secret);
    const { previous_secret_expires_at: overlapEnd } = (await api.call('get', `/v1/webhooks/${webhook.id}`, key)).body;
    // The receiver already has the new secret alone: it refuses `X-Service-Signature`, as the message says.
    const computed = sign(secret, delivery.eventId, body)['X-Service-Signature'];
    const { body: both } = await verify(webhook.id, { headers, body, computed }).expect(200);
    expect([...causes(both), both.computed]).toEqual(['ok', 'ok', 'correct']);
    expect(both.checks.map(({ message }: { message: string }) => message)).toEqual([
      `The signature is right. Until ${overlapEnd} the previous secret makes it: verify this header with that secret.`,
      'The signature is right.',
    ]);
    const [, oldEntry] = (headers['webhook-signature'] as string).split(' ');
    const old = { ...headers, 'webhook-signature': oldEntry };
    const during = await verify(webhook.id, { headers: old, body });
    expect([during.body.valid, ...causes(during.body)]).toEqual([true, 'ok', 'previous_secret']);
    await api.db
      .updateTable('webhooks')
      .set({ previous_secret_expires_at: new Date() })
      .where('id', '=', fromPublicId('whk', webhook.id) as string)
      .execute();
    const after = await verify(webhook.id, { headers: old, body });
    expect([after.body.valid, ...causes(after.body)]).toEqual([false, 'unknown', 'unknown']);
  });

  it('takes a delivery that is on its way for right', async () => {
    const webhook = await api.createWebhook(key);
    const delivery = await insertDelivery(api.db, { organizationId, webhookId: webhook.id });
    await insertAttempt(api.db, delivery.id, { number: 1, webhook_version: 1 });
    const headers = sign(webhook.secret, delivery.eventId, 'any');
    expect((await verify(webhook.id, { headers, body: 'any' }).expect(200)).body.valid).toBe(true);
  });

  it('tells no secret and no signature, in the answer or in the log', async () => {
    const { webhook, delivery, body } = await deliver();
    const headers = sign(webhook.secret, delivery.eventId, body);
    const wrong = { ...headers, 'X-Service-Signature': '0'.repeat(64), 'webhook-signature': `v1,${'A'.repeat(43)}=` };
    const { text } = await verify(webhook.id, { headers: wrong, body, computed: 'x' }).expect(200);
    const told = text + api.logLines.join('');
    for (const hidden of [webhook.secret.slice(6), headers['X-Service-Signature'], headers['webhook-signature']]) {
      expect(told).not.toContain(hidden);
    }
  });

  it("does not read another organization's events", async () => {
    const { webhook, delivery, body } = await deliver();
    const { secret: strangersKey } = await api.createKey();
    const own = await api.createWebhook(strangersKey);
    const headers = sign(webhook.secret, delivery.eventId, body);
    const { body: check } = await verify(own.id, { headers, body: `${body} ` }, strangersKey).expect(200);
    expect([check.delivery_id, ...causes(check)]).toEqual([null, 'unknown', 'unknown']);
    await verify(webhook.id, { headers, body }, strangersKey).expect(404);
  });

  it.each([
    ['no body', { headers: {} }, 'body'],
    ['two bodies', { headers: {}, body: '', body_base64: '' }, 'body'],
    ['no base64', { headers: {}, body_base64: '*' }, 'body_base64'],
    ['no headers', { body: '' }, 'headers'],
  ])('400 for %s', async (_name, body, param) => {
    const { id } = await api.createWebhook(key);
    const { error } = (await verify(id, body).expect(400)).body;
    expect([error.code, error.param]).toEqual(['validation_failed', param]);
  });

  it('413 for more than 512 KiB, and 200 for as much', async () => {
    const { id } = await api.createWebhook(key);
    const room = 512 * 1_024 - JSON.stringify({ headers: {}, body: '' }).length;
    await verify(id, { headers: {}, body: 'x'.repeat(room) }).expect(200);
    await verify(id, { headers: {}, body: 'x'.repeat(room + 1) }).expect(413);
  });

  it('429 from the 31st request of a minute, with the rate limit of the plan unchanged', async () => {
    const { id } = await api.createWebhook(key);
    const send = () => verify(id, { headers: {}, body: '' });
    for (let count = 0; count < 30; count++) await send().expect(200);
    const limited = await send().expect(429);
    expect(limited.body.error).toMatchObject({
      code: 'rate_limited',
      retry_after: Number(limited.headers['retry-after']),
    });
    expect(Number(limited.headers['x-ratelimit-remaining'])).toBeGreaterThan(0);
    await api.call('get', '/v1/me', key).expect(200);
    const { secret } = await api.createKey();
    await verify((await api.createWebhook(secret)).id, { headers: {}, body: '' }, secret).expect(200);
  });
});
