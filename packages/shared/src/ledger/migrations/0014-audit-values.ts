import { type Kysely, sql } from 'kysely';

/** On whose behalf an internal caller acted, and the values before and after of the fields that hold no secret. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table audit_log add column on_behalf_of text, add column changes jsonb not null default '{}'`.execute(
    db,
  );
}
