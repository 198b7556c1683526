import type { Database } from '@enterprise-api/shared/ledger';
import { newUuid, withUuidTime } from '@enterprise-api/shared/runtime';
import { createSecretBox, parseKeyRing } from '@enterprise-api/shared/security';
import {
  insertEvents,
  insertOrganization,
  insertWebhook,
  selectDeliveriesWithDueTime,
  testEvent,
  testKeyRing,
} from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { fanOutEvents } from '../fan-out/queries.ts';
import type { LeaseRow } from '../leases/lease.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { Capacity } from '../scheduler/scheduler.ts';

const ring = parseKeyRing(testKeyRing);
if (!ring.ok) throw new Error(ring.problems.join());
/** Opens what test rows hold. */
export const testBox = createSecretBox(ring.keys);

/** Capacity for everything. */
export const plenty: Capacity = {
  webhookIds: [],
  free: [],
  busy: [],
  ofNewQueue: 1_000,
  concurrency: 1_000,
  total: 10_000,
  pausedOrganizations: [],
};

export interface LeasedDeliveries {
  organizationId: string;
  webhookId: string;
  leases: LeaseRow[];
}

/** Events that are not fanned out, by their ids. */
export async function emitEvents(
  db: Database,
  organizationId: string,
  count: number,
  values: Parameters<typeof testEvent>[1] = {},
): Promise<string[]> {
  const events = Array.from({ length: count }, () => testEvent(organizationId, values));
  return (await insertEvents(db, events)).map((event) => event.id);
}

/** One webhook of one organization with so many deliveries, all leased. */
export async function leaseDeliveries(
  db: Database,
  count: number,
  maxAttempts = 3,
  values: Parameters<typeof testEvent>[1] = {},
): Promise<LeasedDeliveries> {
  const organizationId = await insertOrganization(db);
  const webhookId = await insertWebhook(db, { organizationId });
  const ids = await emitEvents(db, organizationId, count, values);
  const { leases } = await fanOutEvents(db, ids, plenty, { leaseMs: 45_000, maxAttempts });
  return { organizationId, webhookId, leases };
}

/** The outcome of the attempt that a lease is for; by default it failed with a 500. */
export function outcomeOf(lease: LeaseRow, values: Partial<Outcome> = {}): Outcome {
  const delivered = values.result === 'delivered';
  const startedAt = values.startedAt ?? new Date();
  return {
    deliveryId: lease.id,
    webhookId: lease.webhook_id,
    eventType: lease.event_type,
    round: lease.round,
    attemptId: withUuidTime(newUuid(), startedAt.getTime()),
    number: lease.attempt_count + 1,
    result: 'retry',
    delayMs: 1_000,
    holdForMs: null,
    countsForHealth: true,
    countsForBreaker: !delivered,
    manual: false,
    startedAt,
    durationMs: 12,
    lagMs: lease.attempt_count === 0 ? 7 : null,
    statusCode: delivered ? 200 : 500,
    error: delivered ? null : 'http_error',
    errorMessage: null,
    excerpt: null,
    remoteAddress: null,
    responseHeaders: null,
    webhookVersion: 1,
    timings: { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: 3 },
    ...values,
  };
}

export const findDelivery = (db: Database, id: string) =>
  selectDeliveriesWithDueTime(db).where('deliveries.id', '=', id).executeTakeFirstOrThrow();

export const findAttempts = (db: Database, deliveryId: string) =>
  db.selectFrom('all_attempts').selectAll().where('delivery_id', '=', deliveryId).orderBy('number').execute();

/** For how much longer the circuit of a webhook is open, in milliseconds. */
export async function circuitOpenForMs(db: Database, webhookId: string): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from open_until - now()) * 1000)::float8 as ms
    from webhook_health where webhook_id = ${webhookId}`.execute(db);
  return Number(rows[0]?.ms);
}

export const findHealth = (db: Database, webhookId: string) =>
  db.selectFrom('webhook_health').selectAll().where('webhook_id', '=', webhookId).executeTakeFirst();
