import { type Webhook, webhookSchema, webhookWithSecretSchema } from '@enterprise-api/shared/contracts';
import { type Client, call, unexpectedAnswer } from './client.ts';
import type { DatabaseState } from './demo-state.ts';
import { readAll } from './seed.ts';

export type KnownWebhook = NonNullable<DatabaseState['webhook']>;

export interface RegisteredWebhook {
  webhook: KnownWebhook;
  outcome: 'kept' | 'updated' | 'created';
}

const description = 'Demo receiver of make start';
const events = ['*'];

/**
 * The demo's one webhook, at this URL and enabled. Kept from an earlier run when its secret is known here and can be
 * read there; otherwise made anew, and what earlier runs left is deleted: there is never a second one.
 *
 * @param encryptionKeys marks of the keys that the services have, the encrypting one first
 */
export async function ensureWebhook(
  client: Client,
  url: string,
  known: KnownWebhook | undefined,
  encryptionKeys: readonly string[],
): Promise<RegisteredWebhook> {
  if (known && encryptionKeys.includes(known.encryption_key)) {
    const existing = await findWebhook(client, known.id);
    if (existing) return { webhook: known, outcome: await bringUpToDate(client, existing, url) };
  }
  for await (const webhook of readAll(client, webhookSchema, '/v1/webhooks')) {
    if (webhook.description === description) await deleteWebhook(client, webhook.id);
  }
  const body = { url, events, description };
  const { id, secret } = await call(client, webhookWithSecretSchema, 'POST', '/v1/webhooks', body);
  return { webhook: { id, secret, encryption_key: encryptionKeys[0] ?? '' }, outcome: 'created' };
}

async function findWebhook(client: Client, id: string): Promise<Webhook | undefined> {
  const path = `/v1/webhooks/${id}`;
  const answer = await client.request('GET', path);
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw unexpectedAnswer(['GET', path], answer);
  return webhookSchema.parse(answer.body);
}

async function bringUpToDate(client: Client, webhook: Webhook, url: string): Promise<'kept' | 'updated'> {
  if (webhook.url === url && webhook.enabled && webhook.events.includes('*')) return 'kept';
  await call(client, webhookSchema, 'PUT', `/v1/webhooks/${webhook.id}`, { url, events, enabled: true });
  return 'updated';
}

async function deleteWebhook(client: Client, id: string): Promise<void> {
  const path = `/v1/webhooks/${id}`;
  const answer = await client.request('DELETE', path);
  if (answer.status !== 204 && answer.status !== 404) throw unexpectedAnswer(['DELETE', path], answer);
}
