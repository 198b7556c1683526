import { insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { newUuid } from '../runtime/index.ts';
import type { Database } from './database.ts';

let db: Database;
let close: () => Promise<void>;
let organizationId: string;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());
beforeEach(async () => {
  organizationId = await insertOrganization(db);
});

const versionsOf = (id: string) =>
  db
    .selectFrom('webhook_versions')
    .select(['version', 'url', 'event_patterns', 'state'])
    .where('webhook_id', '=', id)
    .orderBy('version')
    .execute();

it('a change of the URL, the patterns or the state is a version; another change is none', async () => {
  const id = await insertWebhook(db, { organizationId });
  for (const change of [
    sql`url = 'https://other.example/'`,
    sql`description = 'x'`,
    sql`event_patterns = '{batch.*}'`,
    sql`secret_sealed = 'x'`,
    sql`state = 'disabled', disabled_reason = 'manual'`,
    sql`state = 'deleted', secret_sealed = null`,
  ])
    await sql`update webhooks set version = version + 1, ${change} where id = ${id}`.execute(db);
  // The erasure of a closed organization.
  await sql`update webhooks set url = '' where id = ${id}`.execute(db);
  const url = 'https://other.example/';
  expect(await versionsOf(id)).toEqual([
    { version: 1, url: 'https://receiver.example/hook', event_patterns: ['*'], state: 'enabled' },
    { version: 2, url, event_patterns: ['*'], state: 'enabled' },
    { version: 4, url, event_patterns: ['batch.*'], state: 'enabled' },
    { version: 6, url, event_patterns: ['batch.*'], state: 'disabled' },
    { version: 7, url, event_patterns: ['batch.*'], state: 'deleted' },
  ]);
});

describe('processes of version 1.0.0', () => {
  /** Its statements, which write the URL themselves. */
  const create = (id: string) => sql`
    with inserted as (
      insert into webhooks (id, organization_id, url, event_patterns, description, state, disabled_reason, secret_sealed)
      values (${id}, ${organizationId}, 'https://a.example/', '{*}', null, 'enabled', null, 'x') returning *
    ), url as (
      insert into webhook_urls (webhook_id, version, url) select id, version, url from inserted
    )
    select id from inserted`;

  it('create and move webhooks, read the URL of an attempt, and remove webhooks', async () => {
    const id = newUuid();
    expect((await create(id).execute(db)).rows).toEqual([{ id }]);
    await db.transaction().execute(async (trx) => {
      await sql`update webhooks set url = 'https://b.example/', version = version + 1 where id = ${id}`.execute(trx);
      await sql`insert into webhook_urls (webhook_id, version, url) select id, version, url from webhooks where id = ${id}`.execute(
        trx,
      );
    });
    const enabled = { event_patterns: ['*'], state: 'enabled' };
    expect(await versionsOf(id)).toEqual([
      { version: 1, url: 'https://a.example/', ...enabled },
      { version: 2, url: 'https://b.example/', ...enabled },
    ]);
    const { rows } = await sql`select url from webhook_urls where webhook_id = ${id} and version <= 1
      order by version desc limit 1`.execute(db);
    expect(rows).toEqual([{ url: 'https://a.example/' }]);
    await sql`with old as materialized (select id from webhooks where id = ${id}),
      urls as (delete from webhook_urls where webhook_id in (select id from old))
      delete from webhooks where id in (select id from old)`.execute(db);
    expect(await versionsOf(id)).toEqual([]);
  });
});
