import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await createIdempotencyKeys(db);
  await createAuditLog(db);
}

/** The id is a hash of what a key is good for: keys and paths are the client's text, and too long for an index. */
async function createIdempotencyKeys(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table idempotency_keys (
      id bytea primary key,
      organization_id uuid not null,
      fingerprint bytea not null,
      status smallint not null,
      headers jsonb not null,
      body_sealed text,
      created_at timestamptz not null default clock_timestamp()
    )`.execute(db);
  await sql`create index idempotency_keys_oldest on idempotency_keys (created_at)`.execute(db);
}

/** No foreign keys: what the log says of an object outlives the object. */
async function createAuditLog(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table audit_log (
      id uuid primary key,
      actor text not null,
      action text not null,
      object_type text not null,
      object_id uuid not null,
      organization_id uuid not null,
      request_id text,
      changed_fields text[] not null,
      created_at timestamptz not null default clock_timestamp()
    )`.execute(db);
  await sql`create index audit_log_newest on audit_log (created_at desc, id desc)`.execute(db);
  await sql`create index audit_log_of_organization on audit_log (organization_id, created_at desc, id desc)`.execute(
    db,
  );
  await sql`create index audit_log_of_object on audit_log (object_id, created_at desc, id desc)`.execute(db);
}
