import { type Webhook, webhookSchema, webhookWithSecretSchema } from '@enterprise-api/shared/contracts';
import { readAll } from './access.ts';
import { type Listener, request, unexpectedAnswer } from './api-request.ts';
import type { DatabaseState } from './demo-state.ts';

export type KnownWebhook = NonNullable<DatabaseState['webhook']>;

export interface RegisteredWebhook {
  webhook: KnownWebhook;
  outcome: 'kept' | 'updated' | 'created';
}

const description = 'Demo receiver of make start';
const events = ['*'];

/**
 * Ensures that the demo has exactly one webhook, at this URL and enabled. The webhook of an earlier run is kept when its
 * secret is known here and the services can decrypt it. Otherwise webhooks of earlier runs are deleted and a new one is
 * created.
 *
 * @param encryptionKeys fingerprints of the services' encryption keys, the encrypting one first
 */
export async function ensureWebhook(
  call: Listener,
  url: string,
  known: KnownWebhook | undefined,
  encryptionKeys: readonly string[],
): Promise<RegisteredWebhook> {
  if (known && encryptionKeys.includes(known.encryption_key)) {
    const existing = await findWebhook(call, known.id);
    if (existing) return { webhook: known, outcome: await bringUpToDate(call, existing, url) };
  }
  for await (const webhook of readAll(call, webhookSchema, '/v1/webhooks')) {
    if (webhook.description === description) await deleteWebhook(call, webhook.id);
  }
  const body = { url, events, description };
  const { id, secret } = await request(call, webhookWithSecretSchema, 'POST', '/v1/webhooks', body);
  return { webhook: { id, secret, encryption_key: encryptionKeys[0] ?? '' }, outcome: 'created' };
}

async function findWebhook(call: Listener, id: string): Promise<Webhook | undefined> {
  const path = `/v1/webhooks/${id}`;
  const answer = await call('GET', path);
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw unexpectedAnswer('GET', path, answer);
  return webhookSchema.parse(answer.body);
}

async function bringUpToDate(call: Listener, webhook: Webhook, url: string): Promise<'kept' | 'updated'> {
  if (webhook.url === url && webhook.enabled && webhook.events.includes('*')) return 'kept';
  await request(call, webhookSchema, 'PUT', `/v1/webhooks/${webhook.id}`, { url, events, enabled: true });
  return 'updated';
}

async function deleteWebhook(call: Listener, id: string): Promise<void> {
  const path = `/v1/webhooks/${id}`;
  const answer = await call('DELETE', path);
  if (answer.status !== 204 && answer.status !== 404) throw unexpectedAnswer('DELETE', path, answer);
}
