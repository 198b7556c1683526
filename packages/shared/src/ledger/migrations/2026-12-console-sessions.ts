import { type Kysely, sql } from 'kysely';

/** Sessions of the console. PostgreSQL keeps no statistics of names and addresses, because an erasure must remove them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table console_sessions (
      id uuid primary key,
      organization_id uuid not null references organizations (id),
      key_id uuid references api_keys (id),
      scopes text[] not null,
      path text not null,
      show_bodies boolean not null,
      label text,
      ip_allowlist text[],
      link_hash bytea not null unique,
      link_expires_at timestamptz not null,
      link_reused_at timestamptz,
      cookie_hash bytea unique,
      entered_at timestamptz,
      ended_at timestamptz,
      expires_at timestamptz not null,
      created_at timestamptz not null default clock_timestamp(),
      check ((cookie_hash is null) = (entered_at is null))
    )`.execute(db);
  for (const column of ['path', 'label', 'ip_allowlist']) {
    await sql`alter table console_sessions alter column ${sql.ref(column)} set statistics 0`.execute(db);
  }
  await sql`
    create index console_sessions_newest on console_sessions (organization_id, created_at desc, id desc)`.execute(db);
  await sql`create index console_sessions_of_key on console_sessions (key_id) where key_id is not null`.execute(db);
  await sql`create index console_sessions_by_end on console_sessions ((coalesce(ended_at, expires_at)))`.execute(db);
}
