import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs, toPublicId } from '@enterprise-api/shared/runtime';
import { parseTraceparent } from '@enterprise-api/shared/tracing';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { WebhookCache } from '../webhooks/webhook-cache.ts';
import type { EventBodies, HeldEvent } from './event-bodies.ts';
import type { Lease, LeaseRow } from './lease.ts';
import { type EventContent, findEvents } from './queries.ts';
import { ledgerBackoff, type ReleasableLease, type ReleaseOptions, releaseUntilDone } from './release.ts';

export interface LeaseLoader {
  /**
   * Loads the bodies that the rows do not carry, once per event, and passes the leases to the scheduler. While the
   * ledger does not answer, retries until the leases are too old to start, then releases them. Loads large bodies with
   * several statements. Before each statement, releases leases that would add bodies for an organization above its part
   * of the memory budget. Never rejects.
   */
  accept(rows: readonly LoadableLease[], leasedAt: number): Promise<void>;
  /** Makes the deliveries due now for every process. A lease that cannot be released runs out by itself. */
  release(leases: readonly Lease[]): void;
  settled(): Promise<void>;
}

/**
 * Rows from fan-out carry the event's content, but its body only once per event. Rows from dispatch carry no content.
 */
type LoadableLease = LeaseRow & { [Part in keyof EventContent]?: EventContent[Part] | null };

export interface LeaseLoaderOptions extends ReleaseOptions {
  scheduler: Pick<Scheduler, 'accept' | 'noteDueRows' | 'isStopped'>;
  bodies: EventBodies;
  webhooks: Pick<WebhookCache, 'get'>;
  startWithinMs: number;
  onReleased: (leases: number) => void;
}

export function createLeaseLoader(options: LeaseLoaderOptions): LeaseLoader {
  const { bodies, scheduler } = options;
  const pending = new Set<Promise<void>>();
  const track = (work: Promise<void>): Promise<void> => {
    const tracked = work.finally(() => pending.delete(tracked));
    pending.add(tracked);
    return tracked;
  };
  const release = (leases: readonly ReleasableLease[]) => {
    if (leases.length === 0) return;
    options.onReleased(leases.length);
    void track(releaseUntilDone(options, leases));
  };
  const releaseRows = (rows: readonly LeaseRow[], leasedAt: number) =>
    release(
      rows.map((row) => ({ deliveryId: row.id, webhookId: row.webhook_id, leaseToken: row.lease_token, leasedAt })),
    );
  const accept = async (all: readonly LoadableLease[], leasedAt: number): Promise<void> => {
    const isAboveShare = ({ event_id, organization_id }: LeaseRow) =>
      bodies.isAboveShare(organization_id) && bodies.find(event_id) === undefined;
    for (let left = all; left.length > 0; ) {
      if (scheduler.isStopped) return releaseRows(left, leasedAt);
      releaseRows(left.filter(isAboveShare), leasedAt);
      const rows = left.filter((row) => !isAboveShare(row));
      const loaded = await loadWithin(options, rows, leasedAt);
      if (loaded === null) return releaseRows(rows, leasedAt);
      scheduler.accept(toLeases(options, rows, leasedAt, loaded));
      left = rows.filter((row) => loaded.later.has(row.event_id));
    }
  };
  return {
    accept: (rows, leasedAt) => track(accept(rows, leasedAt)),
    release: (leases) => {
      for (const lease of leases) bodies.drop(lease);
      release(leases);
    },
    settled: async () => {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

interface Loaded {
  events: Map<string, HeldEvent>;
  /** Events whose bodies a later statement must load. */
  later: Set<string>;
  /** By webhook id. */
  hostKeys: Map<string, string>;
}

/** @returns null if the leases became too old to start before the ledger answered, or if this process stopped */
async function loadWithin(
  options: LeaseLoaderOptions,
  rows: readonly LoadableLease[],
  leasedAt: number,
): Promise<Loaded | null> {
  const { clock, log, scheduler, startWithinMs } = options;
  for (let failures = 1; ; failures += 1) {
    try {
      const [loaded, hostKeys] = await Promise.all([loadEvents(options, rows), findHostKeys(options, rows)]);
      return { ...loaded, hostKeys };
    } catch (error) {
      const waitMs = backoffMs(failures, ledgerBackoff);
      const isTooLate = clock.monotonic() + waitMs - leasedAt > startWithinMs;
      log.warn({ err: error, deliveries: rows.length, released: isTooLate }, 'event bodies not loaded');
      if (isTooLate) return null;
      await pause(waitMs);
      if (scheduler.isStopped) return null;
    }
  }
}

async function loadEvents(
  { db, bodies }: LeaseLoaderOptions,
  rows: readonly LoadableLease[],
): Promise<Pick<Loaded, 'events' | 'later'>> {
  const events = new Map<string, HeldEvent>();
  const later = new Set<string>();
  for (const { event_id, body, request_id = null, traceparent = null } of rows) {
    const event = bodies.find(event_id) ?? (typeof body === 'string' && encode({ body, request_id, traceparent }));
    if (event) events.set(event_id, event);
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
  // Producers in any language write this field, so keep it only if it is a valid trace context.
  const trace = traceparent === null ? null : (parseTraceparent(traceparent) ?? null);
  return { body: Buffer.from(body), requestId: request_id, traceparent: trace };
}

/** Looks up all webhooks together, so that the attempts later find the webhooks in the cache. */
async function findHostKeys({ webhooks }: LeaseLoaderOptions, rows: readonly LeaseRow[]): Promise<Loaded['hostKeys']> {
  const versions = new Map(rows.map((row) => [row.webhook_id, row.webhook_version]));
  const find = async (id: string, version: number) => (await webhooks.get(id, version))?.hostKey ?? '';
  return new Map(await Promise.all([...versions].map(async ([id, version]) => [id, await find(id, version)] as const)));
}

function toLeases(
  { bodies, log }: LeaseLoaderOptions,
  rows: readonly LeaseRow[],
  leasedAt: number,
  { events, later, hostKeys }: Loaded,
): Lease[] {
  const leases: Lease[] = [];
  for (const row of rows.filter(({ event_id }) => !later.has(event_id))) {
    // Another fan-out may have loaded the event meanwhile: hold each body only once.
    const event = bodies.find(row.event_id) ?? events.get(row.event_id);
    if (event === undefined) {
      const ids = { delivery_id: toPublicId('dlv', row.id), event_id: toPublicId('evt', row.event_id) };
      log.error(ids, 'event has no body');
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
    isTest: row.test,
    leaseToken: row.lease_token,
    webhookVersion: row.webhook_version,
    leasedAt,
    ...event,
  };
}
