import { createHash } from 'node:crypto';
import { type EmitEvent, webhookSecretContext } from '@enterprise-api/shared/contracts';
import { newEvent, type WrittenEvent, writeEvents } from '@enterprise-api/shared/events';
import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { fromPublicId, newUuid, type PublicId, toPublicId } from '@enterprise-api/shared/runtime';
import { createSecretBox, parseKeyRing } from '@enterprise-api/shared/security';
import { createTestDatabase } from '../stores/test-database.ts';

/** The key ring of test rows, and SECRETS_ENCRYPTION_KEYS of processes under test. */
export const testKeyRing = `test:${Buffer.alloc(32, 7).toString('base64')}`;

/** The secret of every webhook that {@link insertWebhook} makes, unless told otherwise. */
export const testWebhookSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

/** A migrated database of its own, open. */
export async function openTestDatabase(): Promise<{ db: Database; url: string; close: () => Promise<void> }> {
  const database = await createTestDatabase();
  const db = createDatabase({ url: database.url, applicationName: 'test', poolSize: 5 });
  return {
    db,
    url: database.url,
    close: async () => {
      await db.destroy();
      await database.drop();
    },
  };
}

export async function insertOrganization(db: Database, plan: 'starter' | 'enterprise' = 'enterprise'): Promise<string> {
  const id = newUuid();
  await db.insertInto('organizations').values({ id, name: 'Test organization', plan }).execute();
  return id;
}

export interface WebhookValues {
  organizationId: string;
  url?: string;
  events?: string[];
  state?: 'enabled' | 'disabled' | 'deleted';
  secret?: string;
}

export async function insertWebhook(db: Database, values: WebhookValues): Promise<string> {
  const id = newUuid();
  const ring = parseKeyRing(testKeyRing);
  if (!ring.ok) throw new Error(ring.problems.join());
  const { organizationId, state = 'enabled', url = 'https://receiver.example/hook' } = values;
  const context = webhookSecretContext(organizationId, id);
  await db
    .insertInto('webhooks')
    .values({
      id,
      organization_id: organizationId,
      url,
      event_patterns: values.events ?? ['*'],
      description: null,
      state,
      disabled_reason: state === 'disabled' ? 'manual' : null,
      secret_sealed: createSecretBox(ring.keys).seal(values.secret ?? testWebhookSecret, context),
      previous_secret_sealed: null,
      previous_secret_expires_at: null,
    })
    .execute();
  return id;
}

/**
 * An event as an internal producer emits it.
 *
 * @param organizationId its UUID or its public id
 */
export function testEvent(organizationId: string, values: Partial<Omit<EmitEvent, 'organization_id'>> = {}): EmitEvent {
  const type = values.type ?? 'consultation.completed';
  const data = type.startsWith('batch.') ? { batch_id: 'bat_1' } : { consultation_id: 'con_1' };
  const organization_id = organizationId.startsWith('org_')
    ? (organizationId as PublicId<'org'>)
    : toPublicId('org', organizationId);
  return { organization_id, data, ...values, type };
}

/** Writes events with their outbox rows, without a wake-up job. */
export function insertEvents(db: Database, events: readonly EmitEvent[]): Promise<WrittenEvent[]> {
  return writeEvents(
    db,
    events.map((event) => newEvent(event, Date.now())),
  );
}

/** The key under which the ledger stores a caller's event id. */
export function storedKey(organizationId: string, id: string): string {
  return `sha256 ${createHash('sha256')
    .update(`${fromPublicId('org', organizationId) ?? organizationId}:${id}`)
    .digest('hex')}`;
}
