import { type Kysely, sql } from 'kysely';

/**
 * What operators hold back, and its entries in the audit log: a pause of all sending is about no object and no
 * organization. Dropping `not null` locks readers out for as long as it takes to change the catalog; it reads no row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sending_pauses (
      organization_id uuid primary key,
      paused_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    alter table audit_log alter column object_id drop not null, alter column organization_id drop not null`.execute(db);
}
