import { setTimeout as pause } from 'node:timers/promises';
import { type Database, plainArray, prepared, withinRangeOf } from '@enterprise-api/shared/ledger';
import { backoffMs, type Clock, type Logger, toPublicId } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Lease, LeaseRow } from './lease.ts';

/** Brings leases from the ledger into the scheduler, and back. */
export interface LeaseLoader {
  /**
   * Loads the bodies that no row has brought, once per event, and gives the leases to the scheduler. While the ledger does
   * not answer it tries again until the leases are too old to start, and then releases them. Never rejects.
   */
  accept(rows: readonly LoadableLease[], leasedAt: number): Promise<void>;
  /** Makes the deliveries due now, for every process. A lease that cannot be released runs out. */
  release(leases: readonly ReleasableLease[]): void;
  /** Resolves when everything begun so far is done. */
  settled(): Promise<void>;
}

/** Fan-out has the content of an event at hand, and gives it with one of its leases. */
export type LoadableLease = LeaseRow & { [Part in keyof EventContent]?: EventContent[Part] | null };

type ReleasableLease = Pick<Lease, 'deliveryId' | 'leaseToken' | 'leasedAt'>;

export interface LeaseLoaderOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  scheduler: Pick<Scheduler, 'accept' | 'isStopped'>;
  /** Where the deliveries of a webhook go; null for a webhook that no longer exists. */
  hostKey: (webhookId: string, atLeastVersion: number) => string | null | Promise<string | null>;
  /** A lease older than this is not started. */
  startWithinMs: number;
  /** After this age a lease has run out: another process may have the delivery. */
  leaseMs: number;
  onReleased: (leases: number) => void;
}

const backoff = { firstMs: 100, mostMs: 1_000 };

export function createLeaseLoader(options: LeaseLoaderOptions): LeaseLoader {
  const pending = new Set<Promise<void>>();
  const track = (work: Promise<void>): Promise<void> => {
    const tracked = work.finally(() => pending.delete(tracked));
    pending.add(tracked);
    return tracked;
  };
  const release = (leases: readonly ReleasableLease[]) => {
    if (leases.length === 0) return;
    options.onReleased(leases.length);
    void track(releaseCurrent(options, leases));
  };
  const accept = async (rows: readonly LoadableLease[], leasedAt: number): Promise<void> => {
    const loaded = await loadWithin(options, rows, leasedAt);
    if (loaded === null) release(rows.map((row) => ({ deliveryId: row.id, leaseToken: row.lease_token, leasedAt })));
    else options.scheduler.accept(toLeases(rows, leasedAt, loaded, options.log));
  };
  return {
    accept: async (rows, leasedAt) => {
      if (rows.length > 0) await track(accept(rows, leasedAt));
    },
    release,
    settled: async () => {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

interface Loaded {
  events: Map<string, EventContent>;
  hostKeys: Map<string, string | null>;
}

/** @returns null when the ledger did not answer while the leases could have started, or before this process stopped */
async function loadWithin(
  options: LeaseLoaderOptions,
  rows: readonly LoadableLease[],
  leasedAt: number,
): Promise<Loaded | null> {
  const { db, clock, log, scheduler, startWithinMs } = options;
  const brought = contentOf(rows);
  const missing = [...new Set(rows.map((row) => row.event_id))].filter((id) => !brought.has(id));
  for (let failures = 1; ; failures += 1) {
    try {
      const loading = missing.length > 0 ? findEvents(db, missing) : noEvents;
      const [loaded, hostKeys] = await Promise.all([loading, findHostKeys(rows, options.hostKey)]);
      return { events: new Map([...brought, ...loaded]), hostKeys };
    } catch (error) {
      const waitMs = backoffMs(failures, backoff);
      const isTooLate = clock.monotonic() + waitMs - leasedAt > startWithinMs;
      log.warn({ err: error, deliveries: rows.length, released: isTooLate }, 'event bodies not loaded');
      if (isTooLate) return null;
      await pause(waitMs);
      if (scheduler.isStopped) return null;
    }
  }
}

const noEvents: ReadonlyMap<string, EventContent> = new Map();

/** By event id: what the rows have brought. */
function contentOf(rows: readonly LoadableLease[]): Map<string, EventContent> {
  const brought = new Map<string, EventContent>();
  for (const { event_id, body, request_id } of rows) {
    if (typeof body === 'string') brought.set(event_id, { body, request_id: request_id ?? null });
  }
  return brought;
}

/** What an attempt needs of its event. */
export interface EventContent {
  body: string;
  /** Of the API request that emitted the event, if one did. */
  request_id: string | null;
}

/** By event id. */
export async function findEvents(db: Database, eventIds: readonly string[]): Promise<Map<string, EventContent>> {
  const { rows } = await sql<EventContent & { id: string }>`${prepared}
    select id, body, request_id from events where id = any(${plainArray(eventIds)}::uuid[])
      and id ${withinRangeOf(eventIds)}`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

function toLeases(rows: readonly LeaseRow[], leasedAt: number, { events, hostKeys }: Loaded, log: Logger): Lease[] {
  const leases: Lease[] = [];
  for (const row of rows) {
    const event = events.get(row.event_id);
    if (event !== undefined) leases.push(toLease(row, leasedAt, event, hostKeys.get(row.webhook_id) ?? ''));
    else logMissingBody(log, row);
  }
  return leases;
}

function toLease(row: LeaseRow, leasedAt: number, event: EventContent, hostKey: string): Lease {
  return {
    deliveryId: row.id,
    organizationId: row.organization_id,
    webhookId: row.webhook_id,
    hostKey,
    eventId: row.event_id,
    eventType: row.event_type,
    number: row.attempt_count + 1,
    maxAttempts: row.max_attempts,
    round: row.round,
    manual: row.manual,
    leaseToken: row.lease_token,
    webhookVersion: row.webhook_version,
    leasedAt,
    body: event.body,
    requestId: event.request_id,
  };
}

function logMissingBody(log: Logger, row: LeaseRow): void {
  log.error({ delivery_id: toPublicId('dlv', row.id), event_id: toPublicId('evt', row.event_id) }, 'event has no body');
}

/** By webhook. Those in memory cost nothing; the others are looked up together, and their attempts need not do so. */
async function findHostKeys(
  rows: readonly LeaseRow[],
  find: LeaseLoaderOptions['hostKey'],
): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null | Promise<string | null>>();
  for (const row of rows) {
    if (!found.has(row.webhook_id)) found.set(row.webhook_id, find(row.webhook_id, row.webhook_version));
  }
  return new Map(await Promise.all([...found].map(async ([id, key]) => [id, await key] as const)));
}

/** Tries until it succeeds or the leases have run out. Releasing a lease twice changes nothing. */
async function releaseCurrent(
  { db, clock, log, leaseMs }: LeaseLoaderOptions,
  leases: readonly ReleasableLease[],
): Promise<void> {
  for (let failures = 1; ; failures += 1) {
    const current = leases.filter((lease) => clock.monotonic() - lease.leasedAt < leaseMs);
    if (current.length === 0) return;
    try {
      await releaseLeases(
        db,
        current.map((lease) => lease.deliveryId),
        current.map((lease) => lease.leaseToken),
      );
      return;
    } catch (error) {
      log.warn({ err: error, deliveries: current.length }, 'leases not released yet');
      await pause(backoffMs(failures, backoff));
    }
  }
}

/**
 * Makes leased deliveries due now, for every process. Changes only rows that still carry the same lease: one that ran
 * out may belong to another process by now.
 */
export async function releaseLeases(
  db: Database,
  deliveryIds: readonly string[],
  leaseTokens: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ id: string }>`${prepared}
    with mine as materialized (
      select p.delivery_id from unnest(${plainArray(deliveryIds)}::uuid[], ${leaseTokens}::timestamptz[]) as x(id, lease_token)
      join pending_deliveries p on p.delivery_id = x.id
      where p.next_attempt_at = x.lease_token order by p.delivery_id for update of p
    )
    update pending_deliveries p set next_attempt_at = now(), lease_count = greatest(p.lease_count - 1, 0)
    where p.delivery_id = any (array(select delivery_id from mine)) returning p.delivery_id as id`.execute(db);
  return rows.length;
}
