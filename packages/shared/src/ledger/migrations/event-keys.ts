import { type Kysely, sql } from 'kysely';

/**
 * Stores only hashes of callers' event ids, because an id may name what its event is about. A hash contains a space,
 * which no caller's id does. This version of the library writes hashes. Version 1.0.0 writes ids, and a trigger hashes
 * them. After a duplicate, 1.0.0 looks for the id. So triggers also insert the id, and delete it at the commit.
 */
export async function hashEventKeys(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function event_key(organization uuid, key text) returns text language sql immutable parallel safe
    return 'sha256 ' || encode(sha256(convert_to(organization::text || ':' || key, 'UTF8')), 'hex')`.execute(db);
  // Until the next migration, the table has ids that 1.0.0 wrote. An id that is already there is a duplicate.
  await createHashFunction(
    db,
    sql`if exists (select from event_keys where organization_id = new.organization_id and key = new.key) then
        return null;
      end if;`,
  );
  await sql`
    create trigger hash_event_key before insert on event_keys for each row
    when (new.key not like 'sha256 %' and pg_trigger_depth() = 0) execute function hash_event_key();
    -- Producers may not delete, so the function runs with the rights of the migrating role.
    create function forget_event_key() returns trigger language plpgsql
    security definer set search_path from current as $$
    begin
      delete from event_keys where organization_id = new.organization_id and key = new.key;
      return null;
    end $$;
    create constraint trigger forget_event_key after insert on event_keys deferrable initially deferred for each row
    when (new.key not like 'sha256 %') execute function forget_event_key()`.execute(db);
}

/** Hashes the ids that 1.0.0 wrote. Meanwhile processes write on, because the trigger knows both ids and hashes. */
export async function hashEarlierEventKeys(db: Kysely<unknown>): Promise<void> {
  await sql`update event_keys set key = event_key(organization_id, key) where key not like 'sha256 %'`.execute(db);
  await createHashFunction(db, sql``);
}

async function createHashFunction(db: Kysely<unknown>, before: ReturnType<typeof sql>): Promise<void> {
  await sql`
    create or replace function hash_event_key() returns trigger language plpgsql as $$
    declare
      id text := new.key;
      first record;
    begin
      ${before}
      new.key := event_key(new.organization_id, id);
      select event_id, event_type into first from event_keys
      where organization_id = new.organization_id and key = new.key;
      if found then
        insert into event_keys (organization_id, key, event_id, event_type)
        values (new.organization_id, id, first.event_id, first.event_type) on conflict do nothing;
      end if;
      return new;
    end $$`.execute(db);
}
