import { setTimeout as pause } from 'node:timers/promises';
import { storeBackoff, toPublicId } from '@enterprise-api/shared/runtime';
import { parseTraceparent } from '@enterprise-api/shared/tracing';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { WebhookCache } from '../webhooks/webhook-cache.ts';
import type { EventContent, Lease, LeaseRow } from './lease.ts';
import { findEvents } from './queries.ts';
import { type ReleasableLease, type ReleaseOptions, releaseUntilDone } from './release.ts';

export interface LeaseLoaderOptions extends ReleaseOptions {
  scheduler: Pick<Scheduler, 'accept' | 'noteDueRows' | 'isStopped'>;
  webhooks: Pick<WebhookCache, 'get'>;
  bodyBudgetBytes: number;
  onReleased: (leases: number) => void;
}

/** Of the rows from fan-out, one per event carries content. Rows from dispatch carry no content. */
type LoadableLease = LeaseRow & { [Part in keyof EventContent]?: EventContent[Part] | null };

/** The content of an event. Its bytes are in memory once for all deliveries of the event. */
type HeldEvent = Pick<Lease, 'body' | 'requestId' | 'traceparent' | 'acceptedAt'>;

type LeaseOfEvent = Pick<Lease, 'eventId' | 'organizationId'>;

/** `later`: events whose bodies a later statement must load. `hostKeys`: by webhook id. */
interface Loaded {
  events: Map<string, HeldEvent>;
  later: Set<string>;
  hostKeys: Map<string, string>;
}

/**
 * Loads the bodies of leased deliveries, and holds them until the leases end. Counts the size of each body, and the
 * same size again for each lease: TLS buffers the whole encrypted request until the receiver has read it.
 *
 * Organizations with bodies here have equal parts of the budget. While all bodies together exceed the budget, an
 * organization above its part gets no further leases in this process. Without the parts, an organization whose
 * endpoints hang with large events would fill the memory.
 */
export class LeaseLoader {
  readonly #options: LeaseLoaderOptions;
  readonly #held = new Map<string, { event: HeldEvent; leases: Set<object> }>();
  readonly #bytesOf = new Map<string, number>();
  readonly #pending = new Set<Promise<void>>();
  /** Bytes of all held bodies and of their encrypted copies. */
  bodyBytes = 0;

  constructor(options: LeaseLoaderOptions) {
    this.#options = options;
  }

  /**
   * Loads the bodies that the rows do not carry, once per event, and passes the leases to the scheduler. If the ledger
   * does not answer, releases the leases. Loads large bodies with several statements. Before each statement, releases
   * leases that would add bodies for an organization above its part of the budget. Never rejects.
   */
  accept(rows: readonly LoadableLease[], leasedAt: number): Promise<void> {
    return this.#track(this.#accept(rows, leasedAt));
  }

  /** Makes the deliveries due now for every process. A lease that cannot be released runs out by itself. */
  release = (leases: readonly Lease[]): void => {
    for (const lease of leases) this.end(lease);
    this.#release(leases);
  };

  /** Stops counting a lease, and drops the body with the event's last lease. A second call does nothing. */
  end(lease: LeaseOfEvent): void {
    const held = this.#held.get(lease.eventId);
    if (held === undefined || !held.leases.delete(lease)) return;
    if (held.leases.size === 0) this.#held.delete(lease.eventId);
    this.#count(lease, (held.leases.size === 0 ? -2 : -1) * held.event.body.length);
  }

  organizationsAboveShare = (): string[] => [...this.#bytesOf.keys()].filter((id) => this.#isAboveShare(id));

  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  async #accept(all: readonly LoadableLease[], leasedAt: number): Promise<void> {
    const { scheduler } = this.#options;
    const takesTooMuch = ({ event_id, organization_id }: LeaseRow) =>
      this.#isAboveShare(organization_id) && !this.#held.has(event_id);
    for (let left = all; left.length > 0; ) {
      if (scheduler.isStopped) return this.#releaseRows(left, leasedAt);
      this.#releaseRows(left.filter(takesTooMuch), leasedAt);
      const rows = left.filter((row) => !takesTooMuch(row));
      const loaded = await this.#load(rows);
      if (loaded === null) return this.#releaseRows(rows, leasedAt);
      const isLater = ({ event_id }: LeaseRow) => loaded.later.has(event_id);
      scheduler.accept(rows.filter((row) => !isLater(row)).flatMap((row) => this.#toLease(row, leasedAt, loaded)));
      left = rows.filter(isLater);
    }
  }

  /** @returns null if the ledger does not answer */
  async #load(rows: readonly LoadableLease[]): Promise<Loaded | null> {
    const { log, webhooks } = this.#options;
    try {
      const [events, hostKeys] = await Promise.all([this.#loadEvents(rows), findHostKeys(webhooks, rows)]);
      return { ...events, hostKeys };
    } catch (error) {
      log.warn({ err: error, deliveries: rows.length }, 'event bodies not loaded');
      // Without the pause, this process would lease and release the deliveries in a fast loop.
      await pause(storeBackoff.firstMs);
      return null;
    }
  }

  async #loadEvents(rows: readonly LoadableLease[]): Promise<Pick<Loaded, 'events' | 'later'>> {
    const events = new Map<string, HeldEvent>();
    const later = new Set<string>();
    for (const { event_id, body, request_id = null, traceparent = null, accepted_at } of rows) {
      const held = this.#held.get(event_id)?.event;
      if (held !== undefined) events.set(event_id, held);
      else if (typeof body === 'string' && typeof accepted_at === 'number')
        events.set(event_id, encode({ body, request_id, traceparent, accepted_at }));
    }
    const missing = new Set(rows.map((row) => row.event_id).filter((id) => !events.has(id)));
    if (missing.size === 0) return { events, later };
    for (const [id, content] of await findEvents(this.#options.db, [...missing])) {
      if (content === 'later') later.add(id);
      else events.set(id, encode(content));
    }
    return { events, later };
  }

  #toLease(row: LeaseRow, leasedAt: number, { events, hostKeys }: Loaded): Lease[] {
    const event = events.get(row.event_id);
    // Another call may have loaded the event meanwhile, so hold each body only once.
    const held = this.#held.get(row.event_id) ?? (event && { event, leases: new Set<object>() });
    if (held === undefined) {
      const ids = { delivery_id: toPublicId('dlv', row.id), event_id: toPublicId('evt', row.event_id) };
      this.#options.log.error(ids, 'event has no body');
      return [];
    }
    const lease = {
      deliveryId: row.id,
      organizationId: row.organization_id,
      webhookId: row.webhook_id,
      hostKey: hostKeys.get(row.webhook_id) ?? '',
      eventId: row.event_id,
      eventType: row.event_type,
      number: row.attempt_count + 1,
      maxAttempts: row.max_attempts,
      round: row.round,
      manual: row.manual,
      isTest: row.test,
      isLimited: row.is_limited === true,
      leaseToken: row.lease_token,
      webhookVersion: row.webhook_version,
      leasedAt,
      ...held.event,
    };
    this.#held.set(row.event_id, held);
    this.#count(lease, (held.leases.size === 0 ? 2 : 1) * held.event.body.length);
    held.leases.add(lease);
    return [lease];
  }

  #count({ organizationId }: LeaseOfEvent, bytes: number): void {
    this.bodyBytes += bytes;
    const left = (this.#bytesOf.get(organizationId) ?? 0) + bytes;
    if (left === 0) this.#bytesOf.delete(organizationId);
    else this.#bytesOf.set(organizationId, left);
  }

  #isAboveShare(organizationId: string): boolean {
    const { bodyBudgetBytes } = this.#options;
    if (this.bodyBytes <= bodyBudgetBytes) return false;
    return (this.#bytesOf.get(organizationId) ?? 0) > bodyBudgetBytes / this.#bytesOf.size;
  }

  #releaseRows(rows: readonly LeaseRow[], leasedAt: number): void {
    this.#release(
      rows.map((row) => ({ deliveryId: row.id, webhookId: row.webhook_id, leaseToken: row.lease_token, leasedAt })),
    );
  }

  #release(leases: readonly ReleasableLease[]): void {
    if (leases.length === 0) return;
    this.#options.onReleased(leases.length);
    void this.#track(releaseUntilDone(this.#options, leases));
  }

  #track(work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
    return tracked;
  }
}

function encode({ body, request_id, traceparent, accepted_at }: EventContent): HeldEvent {
  // Producers in any language write this field, so keep it only if it is a valid trace context.
  const trace = traceparent === null ? null : (parseTraceparent(traceparent) ?? null);
  return { body: Buffer.from(body), requestId: request_id, traceparent: trace, acceptedAt: accepted_at };
}

/** Looks up all webhooks together, so that the attempts later find the webhooks in the cache. */
async function findHostKeys(
  webhooks: LeaseLoaderOptions['webhooks'],
  rows: readonly LeaseRow[],
): Promise<Loaded['hostKeys']> {
  const versions = new Map(rows.map((row) => [row.webhook_id, row.webhook_version]));
  const find = async (id: string, version: number) => (await webhooks.get(id, version))?.hostKey ?? '';
  return new Map(await Promise.all([...versions].map(async ([id, version]) => [id, await find(id, version)] as const)));
}
