import type { ColumnType, Generated, Insertable, Selectable } from 'kysely';
import type { AuditAction, AuditChanges, AuditObjectType } from '../contracts/index.ts';
import type { Uuid } from '../runtime/ids.ts';
import type { UsageLedgerTable, UsageProgressTable, UsageRequestsTable, UsageWritersTable } from './usage-tables.ts';

/** A column that the database fills at insert and that is never updated. */
type CreatedAt = ColumnType<Date, Date | undefined, never>;

export interface OrganizationsTable {
  id: Uuid;
  name: string;
  plan: 'starter' | 'pro' | 'business' | 'enterprise';
  external_id: Generated<string | null>;
  created_at: CreatedAt;
}

export interface ApiKeysTable {
  id: Uuid;
  organization_id: Uuid;
  name: string;
  /** The 8 characters after `nwk_`: the part of the key that stays visible after its creation. */
  public_id: string;
  /** SHA-256 of the whole key. */
  hash: Buffer;
  scopes: string[];
  ip_allowlist: string[] | null;
  created_at: CreatedAt;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
}

export interface WebhooksTable {
  id: Uuid;
  organization_id: Uuid;
  url: string;
  event_patterns: string[];
  description: string | null;
  state: 'enabled' | 'disabled' | 'deleted';
  disabled_reason: 'manual' | 'failing' | 'gone' | null;
  /** Raised by every change; a worker's cached copy is used for leases that came with the same version or an older one. */
  version: Generated<number>;
  /** Encrypted; null when the webhook is deleted. */
  secret_sealed: string | null;
  /** The secret before the last rotation; the worker erases it after {@link WebhooksTable.previous_secret_expires_at}. */
  previous_secret_sealed: string | null;
  previous_secret_expires_at: Date | null;
  created_at: CreatedAt;
  updated_at: Generated<Date>;
}

/** The URLs a webhook has had: an attempt's URL is the one of the greatest version up to the attempt's. */
export interface WebhookUrlsTable {
  webhook_id: Uuid;
  version: number;
  url: string;
}

export interface WebhookHealthTable {
  webhook_id: Uuid;
  /** Failures of the kinds that open the circuit, since the last success. */
  consecutive_failures: Generated<number>;
  /** Failed attempts of any kind since the last success. */
  failed_attempts: Generated<number>;
  first_failure_at: Date | null;
  /** The circuit is open until then: by failures, or by a `Retry-After`. */
  open_until: Date | null;
  /** How often failures have opened the circuit since the last success. Above 0 after `open_until`, it is half-open. */
  openings: Generated<number>;
  /** The delivery that tries a half-open circuit: the probe is under way while it is leased, and until `probe_until`. */
  probe_delivery_id: Generated<Uuid | null>;
  /** The end of an ordinary lease that began with the probe. The lease of its delivery may last longer. */
  probe_until: Generated<Date | null>;
}

export interface EventsTable {
  id: Uuid;
  organization_id: Uuid;
  type: string;
  occurred_at: Date | null;
  created_at: CreatedAt;
  /** Of the API request that emitted the event; null when a producer or the queue did. */
  request_id: string | null;
  /** The trace that it belongs to (W3C's `traceparent`); null where its producer named none. */
  traceparent: string | null;
  /** In the order of writing, across organizations, with gaps. */
  position: Generated<number>;
}

/** A row for each event whose body is kept. A pending delivery's is there. */
export interface EventBodiesTable {
  event_id: Uuid;
  /** Exactly the bytes that are sent, on every attempt. */
  body: string;
}

export interface EventKeysTable {
  organization_id: Uuid;
  key: string;
  event_id: Uuid;
  event_type: string;
  created_at: CreatedAt;
}

export interface OutboxTable {
  event_id: Uuid;
  organization_id: Uuid;
  created_at: CreatedAt;
}

/** Events that could not be fanned out: PostgreSQL refused their deliveries. */
export interface ParkedEventsTable {
  event_id: Uuid;
  organization_id: Uuid;
  /** Of the outbox row that this row replaces. */
  created_at: Date;
  /** The SQLSTATE, and the name of what refused the row. Never a value of the row. */
  reason: string;
  /** How often fan-out has failed since the event was parked first. */
  failures: number;
  parked_at: Generated<Date>;
  retry_at: Date;
}

export interface DeliveriesTable {
  id: Uuid;
  organization_id: Uuid;
  webhook_id: Uuid;
  event_id: Uuid;
  event_type: string;
  status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  attempt_count: Generated<number>;
  max_attempts: number;
  /** Raised by a manual retry and by replay; an outcome of an older round changes nothing. */
  round: Generated<number>;
  /** Whether the next attempt, or the one that delivered, is a redelivery (test, retry, replay). */
  manual: Generated<boolean>;
  last_status_code: number | null;
  last_error: string | null;
  last_duration_ms: number | null;
  created_at: CreatedAt;
  completed_at: Date | null;
  /** The attempt that delivered, whose start is in its time bits; null again in a new round. The columns below are its own. */
  delivered_by: Generated<Uuid | null>;
  delivered_version: Generated<number | null>;
  excerpt: Generated<string | null>;
  dns_ms: Generated<number | null>;
  connect_ms: Generated<number | null>;
  tls_ms: Generated<number | null>;
  first_byte_ms: Generated<number | null>;
}

/**
 * What waits to be sent: a row for each pending delivery, and none for any other. Dispatch reads nothing else, so the row
 * repeats what an attempt must know of its delivery. Whoever makes a delivery pending, or ends that, writes here in the same
 * transaction, with the row of `deliveries` locked first.
 */
export interface PendingDeliveriesTable {
  delivery_id: Uuid;
  webhook_id: Uuid;
  organization_id: Uuid;
  event_id: Uuid;
  event_type: string;
  /** When the next attempt is due; while the delivery is leased, when the lease runs out. */
  next_attempt_at: Date;
  /** Leases given since the last recorded attempt. */
  lease_count: Generated<number>;
  attempt_count: Generated<number>;
  max_attempts: number;
  round: Generated<number>;
  manual: Generated<boolean>;
}

/** Attempts with a row of their own: all but the one that delivered, which moves here when a new round begins. */
export interface AttemptsTable {
  delivery_id: Uuid;
  id: Uuid;
  number: number;
  round: number;
  superseded: boolean;
  manual: boolean;
  started_at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  error_message: string | null;
  webhook_version: number;
  excerpt: string | null;
  dns_ms: number | null;
  connect_ms: number | null;
  tls_ms: number | null;
  first_byte_ms: number | null;
  /** When the row was written, or the success that moved here. */
  recorded_at: Generated<Date | null>;
}

/** Answers to requests with an `Idempotency-Key`, kept for as long as they are replayed. */
export interface IdempotencyKeysTable {
  /** SHA-256 of organization, key, method and path. */
  id: Buffer;
  organization_id: Uuid;
  /** SHA-256 of the request: the same key with another request is refused. */
  fingerprint: Buffer;
  status: number;
  headers: Record<string, string>;
  /** The exact text of the answer, encrypted: it may show a secret. */
  body_sealed: string | null;
  /** When the request was answered; a key that has expired is handled like a new one. */
  created_at: Generated<Date>;
}

/** Who changed what: a row for each change of an organization, a key or a webhook. Insert only. */
export interface AuditLogTable {
  id: Uuid;
  /** The public id of the key, or the name of one of our own. */
  actor: string;
  on_behalf_of: string | null;
  action: AuditAction;
  object_type: AuditObjectType;
  /** Null, as `organization_id`, of what concerns everybody: a pause of all sending. */
  object_id: Uuid | null;
  organization_id: Uuid | null;
  request_id: string | null;
  changed_fields: string[];
  /** The values before and after of those that hold no secret. */
  changes: ColumnType<AuditChanges, string, never>;
  created_at: CreatedAt;
}

/** What retention has done: one row. */
export interface RetentionProgressTable {
  only_row: Generated<boolean>;
  /** Events with ids before this time have no body, except those with a pending delivery. */
  bodies_removed_until: Date | null;
  /** Event keys of events with ids before this time are gone. */
  keys_removed_until: Date | null;
  /** When a run last came to its end. */
  completed_at: Date | null;
  /** Months that are past `RETENTION_HISTORY` and still there, because something in them is pending. */
  kept_months: Generated<number>;
}

/** What operators hold back. No row: everything is sent. */
export interface SendingPausesTable {
  /** The nil UUID stands for all sending. */
  organization_id: Uuid;
  paused_at: Generated<Date>;
}

/** Every table of the ledger. docs/architecture.md says which service writes which. */
export interface Schema {
  organizations: OrganizationsTable;
  api_keys: ApiKeysTable;
  webhooks: WebhooksTable;
  webhook_urls: WebhookUrlsTable;
  webhook_health: WebhookHealthTable;
  events: EventsTable;
  event_bodies: EventBodiesTable;
  event_keys: EventKeysTable;
  outbox: OutboxTable;
  parked_events: ParkedEventsTable;
  deliveries: DeliveriesTable;
  pending_deliveries: PendingDeliveriesTable;
  attempts: AttemptsTable;
  /** A view: every attempt, wherever it is kept. */
  all_attempts: AttemptsTable;
  idempotency_keys: IdempotencyKeysTable;
  audit_log: AuditLogTable;
  usage_requests: UsageRequestsTable;
  usage_writers: UsageWritersTable;
  usage_ledger: UsageLedgerTable;
  usage_progress: UsageProgressTable;
  retention_progress: RetentionProgressTable;
  sending_pauses: SendingPausesTable;
}

/** A row of a table as queries read it. Services derive the types of their rows from it. */
export type Row<Name extends keyof Schema> = Selectable<Schema[Name]>;

/** A row as it is inserted. */
export type NewRow<Name extends keyof Schema> = Insertable<Schema[Name]>;
