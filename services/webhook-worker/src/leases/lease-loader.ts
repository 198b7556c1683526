import { setTimeout as pause } from 'node:timers/promises';
import { type Database, prepared } from '@enterprise-api/shared/ledger';
import { backoffMs, type Clock, type Logger, toPublicId } from '@enterprise-api/shared/runtime';
import { parseTraceparent } from '@enterprise-api/shared/tracing';
import { sql } from 'kysely';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { WebhookCache, WebhookConfig } from '../webhooks/webhook-cache.ts';
import type { EventBodies, HeldEvent } from './event-bodies.ts';
import { type EventContent, findEvents } from './event-contents.ts';
import type { Lease, LeaseRow } from './lease.ts';

/** Brings leases from the ledger into the scheduler, and back. */
export interface LeaseLoader {
  /**
   * Loads the bodies that no row has brought, once per event, and gives the leases to the scheduler. While the ledger does
   * not answer it tries again until the leases are too old to start, and then releases them. Large bodies come in several
   * statements; before each, what would take an organization further above its share of the memory for bodies is released.
   * Never rejects.
   */
  accept(rows: readonly LoadableLease[], leasedAt: number): Promise<void>;
  /** Makes the deliveries due now, for every process. A lease that cannot be released runs out. */
  release(leases: readonly ReleasableLease[]): void;
  /** Resolves when everything begun so far is done. */
  settled(): Promise<void>;
}

/** Fan-out has the content of an event at hand, and gives it with one of its leases. */
type LoadableLease = LeaseRow & { [Part in keyof EventContent]?: EventContent[Part] | null };

type ReleasableLease = Pick<Lease, 'deliveryId' | 'webhookId' | 'leaseToken' | 'leasedAt'>;

export interface LeaseLoaderOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  scheduler: Pick<Scheduler, 'accept' | 'noteDueRows' | 'isStopped'>;
  bodies: EventBodies;
  webhooks: { get: (...version: Parameters<WebhookCache['get']>) => HasHost | Promise<HasHost> };
  /** A lease older than this is not started. */
  startWithinMs: number;
  /** After this age a lease has run out: another process may have the delivery. */
  leaseMs: number;
  onReleased: (leases: number) => void;
}

/** A webhook that no longer exists goes nowhere. */
type HasHost = Pick<WebhookConfig, 'hostKey'> | null;

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
    for (const lease of leases) options.bodies.drop(lease);
    void track(releaseCurrent(options, leases));
  };
  const releaseRows = (rows: readonly LeaseRow[], leasedAt: number) =>
    release(
      rows.map((row) => ({ deliveryId: row.id, webhookId: row.webhook_id, leaseToken: row.lease_token, leasedAt })),
    );
  const acceptSome = async (all: readonly LoadableLease[], leasedAt: number): Promise<LoadableLease[]> => {
    const isHeldBack = ({ event_id, organization_id }: LeaseRow) =>
      options.bodies.isAboveShare(organization_id) && options.bodies.find(event_id) === undefined;
    const heldBack = all.filter(isHeldBack);
    const rows = heldBack.length === 0 ? all : all.filter((row) => !isHeldBack(row));
    releaseRows(heldBack, leasedAt);
    const loaded = await loadWithin(options, rows, leasedAt);
    if (loaded === null) {
      releaseRows(rows, leasedAt);
      return [];
    }
    const { later } = loaded;
    const ready = later.size === 0 ? rows : rows.filter(({ event_id }) => !later.has(event_id));
    options.scheduler.accept(toLeases(ready, leasedAt, loaded, options));
    return later.size === 0 ? [] : rows.filter(({ event_id }) => later.has(event_id));
  };
  const accept = async (rows: readonly LoadableLease[], leasedAt: number): Promise<void> => {
    for (let left = rows; left.length > 0; ) {
      if (options.scheduler.isStopped) return releaseRows(left, leasedAt);
      left = await acceptSome(left, leasedAt);
    }
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
  events: Map<string, HeldEvent>;
  /** Events that another statement has to read. */
  later: Set<string>;
  hostKeys: Map<string, string | null>;
}

/** @returns null when the ledger did not answer while the leases could have started, or before this process stopped */
async function loadWithin(
  options: LeaseLoaderOptions,
  rows: readonly LoadableLease[],
  leasedAt: number,
): Promise<Loaded | null> {
  const { clock, log, scheduler, startWithinMs } = options;
  for (let failures = 1; ; failures += 1) {
    try {
      const [loaded, hostKeys] = await Promise.all([loadEvents(options, rows), findHostKeys(rows, options.webhooks)]);
      return { ...loaded, hostKeys };
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

/** The events of these leases: those that other leases hold already or a row has brought, and the others from the ledger. */
async function loadEvents(
  { db, bodies }: LeaseLoaderOptions,
  rows: readonly LoadableLease[],
): Promise<Pick<Loaded, 'events' | 'later'>> {
  const events = new Map<string, HeldEvent>();
  const later = new Set<string>();
  for (const { event_id, body, request_id, traceparent } of rows) {
    const held = bodies.find(event_id);
    if (held !== undefined) events.set(event_id, held);
    else if (typeof body === 'string')
      events.set(event_id, encode({ body, request_id: request_id ?? null, traceparent: traceparent ?? null }));
  }
  const missing = new Set(rows.map((row) => row.event_id).filter((id) => !events.has(id)));
  if (missing.size === 0) return { events, later };
  for (const [id, content] of await findEvents(db, [...missing])) {
    if (content === 'later') later.add(id);
    else events.set(id, encode(content));
  }
  return { events, later };
}

function encode({ body, request_id, traceparent }: EventContent): HeldEvent {
  // Producers write it, also those of other languages: only what is the context of a trace goes on.
  const trace = traceparent === null ? null : (parseTraceparent(traceparent) ?? null);
  return { body: Buffer.from(body), requestId: request_id, traceparent: trace };
}

function toLeases(
  rows: readonly LeaseRow[],
  leasedAt: number,
  { events, hostKeys }: Loaded,
  { bodies, log }: LeaseLoaderOptions,
): Lease[] {
  const leases: Lease[] = [];
  for (const row of rows) {
    // Another fan-out may have loaded the event meanwhile.
    const event = bodies.find(row.event_id) ?? events.get(row.event_id);
    if (event === undefined) {
      logMissingBody(log, row);
      continue;
    }
    const lease = toLease(row, leasedAt, event, hostKeys.get(row.webhook_id) ?? '');
    bodies.hold(lease, event);
    leases.push(lease);
  }
  return leases;
}

function toLease(row: LeaseRow, leasedAt: number, event: HeldEvent, hostKey: string): Lease {
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
    requestId: event.requestId,
    traceparent: event.traceparent,
  };
}

function logMissingBody(log: Logger, row: LeaseRow): void {
  log.error({ delivery_id: toPublicId('dlv', row.id), event_id: toPublicId('evt', row.event_id) }, 'event has no body');
}

/** By webhook. Those in memory cost nothing; the others are looked up together, and their attempts need not do so. */
async function findHostKeys(
  rows: readonly LeaseRow[],
  webhooks: LeaseLoaderOptions['webhooks'],
): Promise<Map<string, string | null>> {
  const found = new Map<string, HasHost | Promise<HasHost>>();
  for (const row of rows) {
    if (!found.has(row.webhook_id)) found.set(row.webhook_id, webhooks.get(row.webhook_id, row.webhook_version));
  }
  return new Map(
    await Promise.all([...found].map(async ([id, webhook]) => [id, (await webhook)?.hostKey ?? null] as const)),
  );
}

/** Tries until it succeeds or the leases have run out. Releasing a lease twice changes nothing. */
async function releaseCurrent(
  { db, clock, log, scheduler, leaseMs }: LeaseLoaderOptions,
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
      // Dispatch may have asked before they were due, and found nothing.
      if (!scheduler.isStopped) scheduler.noteDueRows(new Set(current.map((lease) => lease.webhookId)));
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
      select p.delivery_id from unnest(${deliveryIds}::uuid[], ${leaseTokens}::timestamptz[]) as x(id, lease_token)
      join pending_deliveries p on p.delivery_id = x.id
      -- By their keys, also where the table is nearly empty: an index may lead to many deleted rows. An equality of times
      -- would have PostgreSQL read the whole index by time, to join in its order.
      where p.delivery_id = any (${deliveryIds}::uuid[])
        and p.next_attempt_at between x.lease_token and x.lease_token order by p.delivery_id for update of p
    )
    update pending_deliveries p set next_attempt_at = now(), lease_count = greatest(p.lease_count - 1, 0)
    where p.delivery_id = any (array(select delivery_id from mine)) returning p.delivery_id as id`.execute(db);
  return rows.length;
}
