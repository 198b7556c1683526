import type { ColumnType, Generated, Insertable, Selectable } from 'kysely';
import type { AuditAction, AuditChanges, AuditObjectType, DeliveryPolicy, ErasureCounts } from '../contracts/index.ts';
import type { Uuid } from '../runtime/ids.ts';
import type { UncountedAttemptsTable, WebhookCountsTable } from './statistics-tables.ts';
import type { UsageLedgerTable, UsageProgressTable, UsageRequestsTable, UsageWritersTable } from './usage-tables.ts';

/** The database sets this column at insert; no statement updates it. */
type CreatedAt = ColumnType<Date, Date | undefined, never>;

export interface OrganizationsTable {
  id: Uuid;
  /** Empty if the organization is closed. */
  name: string;
  plan: 'starter' | 'pro' | 'business' | 'enterprise';
  external_id: Generated<string | null>;
  state: Generated<'active' | 'closing' | 'closed'>;
  /** When a closing organization's data is to be erased. */
  erase_at: Generated<Date | null>;
  closed_at: Generated<Date | null>;
  /** Null if the setting `RETENTION_BODIES` applies. */
  body_retention_seconds: Generated<number | null>;
  /** Up to this position, workers have noted all events in `bodies_to_remove`. */
  bodies_removed_position: Generated<number>;
  /** Whether the organization gets a copy of the operational events of all organizations. */
  operator: Generated<boolean>;
  created_at: CreatedAt;
}

interface ConsoleSessionsTable {
  id: Uuid;
  organization_id: Uuid;
  /** The key that created the link; null if an internal caller created it. */
  key_id: Uuid | null;
  scopes: string[];
  path: string;
  show_bodies: boolean;
  label: string | null;
  ip_allowlist: string[] | null;
  /** SHA-256 of the link's token. */
  link_hash: Buffer;
  link_expires_at: Date;
  /** When somebody last tried to use the link again. */
  link_reused_at: Generated<Date | null>;
  /** SHA-256 of the organization's id and the cookie; null until the link is used. */
  cookie_hash: Generated<Buffer | null>;
  entered_at: Generated<Date | null>;
  ended_at: Generated<Date | null>;
  expires_at: Date;
  created_at: CreatedAt;
}

export interface ApiKeysTable {
  id: Uuid;
  organization_id: Uuid;
  /** Empty if the organization is closed. */
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
  last_used_address: Generated<string | null>;
  last_used_user_agent: Generated<string | null>;
  ip_allowlist_mode: Generated<'enforce' | 'report'>;
  /** Requests from outside the allowlist, counted since the list last changed and only in the mode `report`. */
  outside_count: Generated<number>;
  outside_last_at: Generated<Date | null>;
  /** The last 20 addresses outside the allowlist, the newest first. */
  outside_addresses: Generated<string[] | null>;
}

export interface WebhooksTable {
  id: Uuid;
  organization_id: Uuid;
  /** Empty if the organization is closed. */
  url: string;
  event_patterns: string[];
  description: string | null;
  state: 'enabled' | 'disabled' | 'deleted';
  disabled_reason: 'manual' | 'failing' | 'gone' | null;
  /** Every change of the webhook increments it. A cached copy serves only leases with this version or an older one. */
  version: Generated<number>;
  /** Encrypted; null if the webhook is deleted. */
  secret_sealed: string | null;
  /**
   * The secret before the last rotation. The worker erases it after {@link WebhooksTable.previous_secret_expires_at}.
   */
  previous_secret_sealed: string | null;
  previous_secret_expires_at: Date | null;
  /** Null if the webhook has no headers. */
  header_names: Generated<string[] | null>;
  /** The names and values of the headers as JSON, encrypted; null without headers or if the webhook is deleted. */
  headers_sealed: Generated<string | null>;
  /** Whether a successful probe enables the webhook after a worker has disabled it as failing. */
  auto_recover: Generated<boolean>;
  /** The test delivery that probes the disabled webhook; null without a probe. */
  recovery_probe_id: Generated<Uuid | null>;
  created_at: CreatedAt;
  updated_at: Generated<Date>;
}

/**
 * The configuration of a webhook from a version on. A trigger inserts a row when the URL, the patterns or the state
 * change. An attempt used the URL of the greatest version that is not above the attempt's version.
 */
export interface WebhookVersionsTable {
  webhook_id: Uuid;
  version: number;
  /** Empty if the organization is closed. */
  url: string;
  /** Null, like the state, in rows from before the table had these columns. */
  event_patterns: string[] | null;
  state: 'enabled' | 'disabled' | 'deleted' | null;
  /** When the transaction of the change began; null if that is not known. */
  change_began_at: Date | null;
  /** A time by which the transaction had ended; null until a worker notes it. */
  change_ended_at: Date | null;
}

export interface WebhookHealthTable {
  webhook_id: Uuid;
  /** Failures since the last success, of the kinds that open the circuit breaker. */
  consecutive_failures: Generated<number>;
  /** Failed attempts of any kind since the last success. */
  failed_attempts: Generated<number>;
  first_failure_at: Date | null;
  /**
   * When the circuit breaker's open period ends. Failures or a `Retry-After` open the breaker. If `openings` is 0 and
   * this time is set, the health was reset, and no success has followed.
   */
  open_until: Date | null;
  /**
   * How often the breaker has opened since it last closed; at least 1 after a `Retry-After`. If `open_until` has passed
   * and this number is positive, the breaker is half-open.
   */
  openings: Generated<number>;
  /**
   * The delivery that probes a half-open circuit breaker. The probe lasts while that delivery is leased, at most until
   * `probe_until`.
   */
  probe_delivery_id: Generated<Uuid | null>;
  /** The end of a lease of normal length that began with the probe. The delivery's own lease may last longer. */
  probe_until: Generated<Date | null>;
  /** An interval: how long ended pauses lasted since the first failure. This time does not count as failing. */
  paused_for: Generated<unknown>;
}

/** The limits, pause and hold of a webhook. A webhook that never had one of these has no row. */
export interface WebhookControlsTable {
  webhook_id: Uuid;
  rate_limit_per_second: Generated<number | null>;
  max_in_flight: Generated<number | null>;
  paused_since: Generated<Date | null>;
  /** When the pause ends. No statement runs at that time: readers compare the time with the clock. */
  resume_at: Generated<Date | null>;
  pause_reason: Generated<string | null>;
  /** The rate for the deliveries that were due when a pause ended, at `released_at`. */
  release_per_second: Generated<number | null>;
  released_at: Generated<Date | null>;
  /** The receiver asked with `Retry-After` to wait until this time. */
  held_until: Generated<Date | null>;
  /** Each lease advances this time by the interval between two deliveries at the rate. */
  rate_used_until: Generated<Date | null>;
  /** The deliveries that dispatch has leased; null = unknown, for example right after the limit was set. */
  in_flight_ids: Generated<Uuid[] | null>;
}

export interface EventsTable {
  id: Uuid;
  organization_id: Uuid;
  type: string;
  /** True if a customer requested the event as a test of one webhook. */
  test: Generated<boolean>;
  occurred_at: Date | null;
  created_at: CreatedAt;
  request_id: string | null;
  traceparent: string | null;
  /** Increases in the order of writing, across organizations, with gaps. */
  position: Generated<number>;
  erased_at: Generated<Date | null>;
}

/** A row for each event with a subject. Fan-out writes the rows; an erasure deletes them. */
export interface EventSubjectsTable {
  event_id: Uuid;
  organization_id: Uuid;
  subject: string;
}

/** A row for each event whose fan-out created no delivery or was slow. */
export interface FanOutsTable {
  event_id: Uuid;
  began_at: Date;
  ended_at: Generated<Date>;
}

/** A row for each operational event about a webhook, and for each operator's copy of an operational event. */
export interface OperationalEventsTable {
  event_id: Uuid;
  /** The webhook that must not get the event; in an operator's copy, the organization. */
  about: Uuid;
}

/** A row for each event whose body is kept, which includes every event with a pending delivery. */
export interface EventBodiesTable {
  event_id: Uuid;
  body: string;
}

/** Tests, and events past an organization's shorter retention. Workers remove their bodies once nothing needs them. */
export interface BodiesToRemoveTable {
  organization_id: Uuid;
  event_id: Uuid;
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

/** Events that were not fanned out, because PostgreSQL refused their deliveries. */
export interface ParkedEventsTable {
  event_id: Uuid;
  organization_id: Uuid;
  /** Copied from the outbox row that this row replaces. */
  created_at: Date;
  /** The SQLSTATE, and the name of the object that refused the row. Never contains a value of the row. */
  reason: string;
  /** How often fan-out has failed since the event was first parked. */
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
  /** Incremented by a manual retry or a replay. An outcome of an older round changes nothing. */
  round: Generated<number>;
  /** True if the next attempt, or the successful one, is a redelivery (test, retry, replay). */
  manual: Generated<boolean>;
  /** Copied from the event. */
  test: Generated<boolean>;
  last_status_code: number | null;
  last_error: string | null;
  last_duration_ms: number | null;
  created_at: CreatedAt;
  completed_at: Date | null;
  /** Null unless the status is `canceled`. */
  canceled_reason: Generated<string | null>;
  /** True once the event or its body was removed early: later outcomes are recorded without texts. */
  erased: Generated<boolean>;
  /**
   * The id of the successful attempt; its time bits hold the attempt's start. A new round resets it to null. The
   * columns from here to `first_byte_ms` describe this attempt.
   */
  delivered_by: Generated<Uuid | null>;
  delivered_version: Generated<number | null>;
  excerpt: Generated<string | null>;
  dns_ms: Generated<number | null>;
  connect_ms: Generated<number | null>;
  tls_ms: Generated<number | null>;
  first_byte_ms: Generated<number | null>;
}

/**
 * A row for each pending delivery and for no other. Dispatch reads only this table, so the row repeats what an attempt
 * needs from its delivery. Code that changes whether a delivery is pending also writes to this table in the same
 * transaction. That code locks the row in `deliveries` first.
 */
export interface PendingDeliveriesTable {
  delivery_id: Uuid;
  webhook_id: Uuid;
  organization_id: Uuid;
  event_id: Uuid;
  event_type: string;
  /** The due time of the next attempt, or the end of the lease while the delivery is leased. */
  next_attempt_at: Date;
  /** The number of leases since the last recorded attempt. */
  lease_count: Generated<number>;
  attempt_count: Generated<number>;
  max_attempts: number;
  round: Generated<number>;
  manual: Generated<boolean>;
  test: Generated<boolean>;
}

/** All attempts except successful ones. A successful attempt moves here when its delivery begins a new round. */
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
  /** When the row was written or, if the attempt was successful, when the delivery completed. */
  recorded_at: Generated<Date | null>;
  /** The address to which the worker connected. Null, like the headers, for a successful attempt. */
  remote_address: Generated<string | null>;
  response_headers: ColumnType<Record<string, string> | null, string | null | undefined>;
}

/** Responses to requests with an `Idempotency-Key`, kept while a repeated request may get them. */
export interface IdempotencyKeysTable {
  /** SHA-256 of organization, key, method and path. */
  id: Buffer;
  organization_id: Uuid;
  /** The organization that the answer shows, if an internal caller made the request. */
  about_organization_id: Generated<Uuid | null>;
  /** SHA-256 of the request. The same key with another request is refused. */
  fingerprint: Buffer;
  status: number;
  headers: Record<string, string>;
  /** The exact response body, encrypted because it may contain a secret. */
  body_sealed: string | null;
  /** When the request was answered. An expired key counts as new. */
  created_at: Generated<Date>;
}

/** A row for each action in `auditActions`. Only the erasure of a closed organization updates a row. */
export interface AuditLogTable {
  id: Uuid;
  actor: string;
  on_behalf_of: string | null;
  action: AuditAction;
  object_type: AuditObjectType;
  object_id: Uuid | null;
  organization_id: Uuid | null;
  request_id: string | null;
  changed_fields: string[];
  changes: ColumnType<AuditChanges, string, never>;
  created_at: CreatedAt;
}

export interface RetentionProgressTable {
  only_row: Generated<boolean>;
  /** Events with ids before this time have no body, except those with a pending delivery. */
  bodies_removed_until: Date | null;
  /** Retention has removed the keys of events with ids before this time. */
  keys_removed_until: Date | null;
  completed_at: Date | null;
  kept_months: Generated<number>;
}

/** Pauses by operators. If the table is empty, workers send everything. */
export interface SendingPausesTable {
  /** The nil UUID means that all sending is paused. */
  organization_id: Uuid;
  paused_at: Generated<Date>;
}

/** The delivery settings of each worker. A worker writes its row every minute. */
export interface WorkerPoliciesTable {
  worker_id: Uuid;
  policy: ColumnType<Partial<DeliveryPolicy>, string, string>;
  seen_at: Generated<Date>;
}

/** Erasures and their receipts. No column holds an erased value. */
export interface ErasuresTable {
  id: Uuid;
  organization_id: Uuid;
  selection_kind: 'subject' | 'event_ids' | 'before' | 'all';
  /** Lowercase hex of SHA-256 of the organization's public id, `:` and the selected value. */
  selection_sha256: string;
  /** The encrypted selection; null once the erasure is completed. */
  selection_sealed: string | null;
  /** The hash of the subject by the function `event_key()`. Fan-out compares it; null once the erasure is completed. */
  selected_subject: string | null;
  selected_ids: Uuid[] | null;
  selected_before: Date | null;
  reason: string | null;
  requested_at: Generated<Date>;
  completed_at: Date | null;
  counts: ColumnType<ErasureCounts, string, string>;
  changed_at: Generated<Date>;
  due_at: Generated<Date>;
  /** One worker works on the erasure until this time, and may renew the claim. */
  claimed_until: Generated<Date | null>;
  pass_began_at: Generated<Date | null>;
  pass_position: Generated<number | null>;
  /** Where the pass continues; null between two passes. */
  place: ColumnType<{ part: number; after: string | null } | null, string | null | undefined, string | null>;
  /** Earlier passes have found every event up to this position. */
  searched_position: Generated<number>;
  /** Events with greater positions were accepted after the request. */
  until_position: Generated<number | null>;
}

/** A replay's deliveries are in `delivery_ids`. The n-th element of `rounds` is the round of the n-th delivery. */
export interface ReplaysTable {
  id: Uuid;
  organization_id: Uuid;
  webhook_id: Uuid;
  state: Generated<'running' | 'completed' | 'canceled'>;
  matched: Generated<number>;
  has_more: Generated<boolean>;
  pending: Generated<number>;
  succeeded: Generated<number>;
  failed: Generated<number>;
  canceled: Generated<number>;
  rate_per_second: number | null;
  created_at: CreatedAt;
  completed_at: Generated<Date | null>;
  /** Null once the replay has ended. */
  delivery_ids: Generated<Uuid[] | null>;
  rounds: Generated<number[] | null>;
  /** When each delivery was due before the replay. If it was not pending, the entry is null, or missing at the end. */
  due_times: Generated<(Date | null)[] | null>;
  /** When a worker next counts a running replay. */
  count_due_at: Generated<Date>;
}

export interface ErasureExportTable {
  only_row: Generated<boolean>;
  /** When an export last reached the end of the list of erasures. */
  exported_at: Date | null;
  /** Set while erasures are repeated in a restored ledger. No service starts meanwhile. */
  restoring_since: Date | null;
}

/** docs/internals/ledger.md says which service writes which table. */
export interface Schema {
  organizations: OrganizationsTable;
  api_keys: ApiKeysTable;
  console_sessions: ConsoleSessionsTable;
  webhooks: WebhooksTable;
  webhook_versions: WebhookVersionsTable;
  webhook_health: WebhookHealthTable;
  webhook_controls: WebhookControlsTable;
  events: EventsTable;
  event_subjects: EventSubjectsTable;
  fan_outs: FanOutsTable;
  event_bodies: EventBodiesTable;
  operational_events: OperationalEventsTable;
  bodies_to_remove: BodiesToRemoveTable;
  event_keys: EventKeysTable;
  outbox: OutboxTable;
  parked_events: ParkedEventsTable;
  deliveries: DeliveriesTable;
  pending_deliveries: PendingDeliveriesTable;
  attempts: AttemptsTable;
  /** A view of every attempt: the rows of `attempts`, and the successful attempts in `deliveries`. */
  all_attempts: AttemptsTable;
  idempotency_keys: IdempotencyKeysTable;
  audit_log: AuditLogTable;
  webhook_counts: WebhookCountsTable;
  uncounted_attempts: UncountedAttemptsTable;
  usage_requests: UsageRequestsTable;
  usage_writers: UsageWritersTable;
  usage_ledger: UsageLedgerTable;
  usage_progress: UsageProgressTable;
  retention_progress: RetentionProgressTable;
  sending_pauses: SendingPausesTable;
  worker_policies: WorkerPoliciesTable;
  erasures: ErasuresTable;
  replays: ReplaysTable;
  erasure_export: ErasureExportTable;
}

export type Row<Name extends keyof Schema> = Selectable<Schema[Name]>;

export type NewRow<Name extends keyof Schema> = Insertable<Schema[Name]>;
