import type { DemoReceiver } from '../receiver.ts';
import { ensureAccess } from './access.ts';
import type { Connect } from './api-request.ts';
import type { DemoState } from './demo-state.ts';
import { ensureWebhook, type KnownWebhook, type RegisteredWebhook } from './webhook.ts';

export interface DemoData {
  organizationId: string;
  apiKey: string;
  webhook: KnownWebhook;
  /** False when the key of an earlier run still works. */
  accessCreated: boolean;
  webhookOutcome: RegisteredWebhook['outcome'];
}

export interface DemoDataOptions {
  connect: Connect;
  receiver: Pick<DemoReceiver, 'setSecret'>;
  /** Where the API's workers reach the receiver. */
  receiverUrl: string;
  state: DemoState;
  /** The name under which the state keeps what the demo created in this database. */
  database: string;
  /** Fingerprints of the services' encryption keys, the encrypting one first. */
  encryptionKeys: readonly string[];
}

/** Finds or creates the demo's organization, API key and webhook, and gives the webhook's secret to the receiver. */
export async function ensureDemoData(options: DemoDataOptions): Promise<DemoData> {
  const { connect, receiver, receiverUrl, state, database, encryptionKeys } = options;
  const known = state.database(database);
  // Before anything else: deliveries of an earlier run may arrive at any moment.
  if (known?.webhook) receiver.setSecret(known.webhook.secret);
  const { organizationId, apiKey, created } = await ensureAccess(connect, known);
  const access = { organization_id: organizationId, api_key: apiKey };
  const knownWebhook = known?.organization_id === organizationId ? known.webhook : undefined;
  state.setDatabase(database, { ...access, ...(knownWebhook && { webhook: knownWebhook }) });
  const { webhook, outcome } = await ensureWebhook(connect(apiKey).call, receiverUrl, knownWebhook, encryptionKeys);
  receiver.setSecret(webhook.secret);
  state.setDatabase(database, { ...access, webhook });
  return { organizationId, apiKey, webhook, accessCreated: created, webhookOutcome: outcome };
}
