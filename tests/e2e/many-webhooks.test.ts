import { type Database, databaseTime } from '@enterprise-api/shared/ledger';
import { newUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { insertOrganization, lowest, openStage, type Receiver, type Stage, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';

/** Each with one delivery that is due tomorrow. */
const webhooks = 100_000;
/** What is promised of a retry whose time has come. */
const promisedMs = 1_000;
/** Long enough that the workers have looked before it is due. */
const dueInMs = 2_500;

let stage: Stage;
let receiver: Receiver;
let organizationId: Uuid;

beforeAll(async () => {
  stage = await openStage({ redisUrl: undefined });
  receiver = await stage.startReceiver();
  organizationId = await insertOrganization(stage.db);
  await insertWaiting(stage.db);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** The webhooks and their deliveries, as if each had failed once. */
async function insertWaiting(db: Database): Promise<void> {
  await sql`
    with hooks as (
      insert into webhooks (id, organization_id, url, event_patterns, secret_sealed)
      select gen_random_uuid(), ${organizationId}, 'https://example.com', '{batch.failed}', '' from generate_series(1, ${webhooks}::int)
      returning id
    ), waiting as (
      insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, attempt_count, max_attempts)
      select delivery_id(${newUuid()}::uuid, id), ${organizationId}, id, ${newUuid()}, 'batch.failed', 'pending', 1, 3 from hooks
      returning *
    )
    insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at,
      attempt_count, max_attempts)
    select id, webhook_id, organization_id, event_id, event_type, now() + interval '1 day', 1, max_attempts from waiting`.execute(
    db,
  );
  for (const table of ['webhooks', 'pending_deliveries']) await sql`analyze ${sql.table(table)}`.execute(db);
}

/** A delivery whose retry is due then. */
async function insertRetry(webhookId: Uuid, owner: Uuid, dueAt: Date): Promise<void> {
  const eventId = newUuid();
  await sql`insert into events (id, organization_id, type) values (${eventId}, ${owner}, 'batch.failed')`.execute(
    stage.db,
  );
  await sql`insert into event_bodies values (${eventId}, '{}')`.execute(stage.db);
  await sql`
    with retried as (
      insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, attempt_count, max_attempts)
      values (delivery_id(${eventId}, ${webhookId}), ${owner}, ${webhookId}, ${eventId}, 'batch.failed', 'pending', 1, 3)
      returning *
    )
    insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at,
      attempt_count, max_attempts)
    select id, webhook_id, organization_id, event_id, event_type, ${dueAt}, 1, max_attempts from retried`.execute(
    stage.db,
  );
}

it('while 100,000 webhooks wait for tomorrow, a retry goes out within a second of its time by one worker, by two and by the one that is left', async () => {
  const { webhookId, organizationId: owner } = await stage.subscribe({ url: receiver.url() });
  let retries = 0;
  const lateness = () =>
    lowest(promisedMs, async () => {
      const dueAt = new Date((await databaseTime(stage.db)).getTime() + dueInMs);
      await insertRetry(webhookId, owner, dueAt);
      retries += 1;
      const isReceived = () => receiver.requests.length >= retries;
      await until('the retry is received', isReceived, { withinMs: 30_000, everyMs: 5 });
      return (await databaseTime(stage.db)).getTime() - dueAt.getTime();
    });
  const first = await stage.startWorker();
  expect(await lateness()).toBeLessThan(promisedMs);
  await stage.startWorker();
  expect(await lateness()).toBeLessThan(promisedMs);
  first.kill('SIGKILL');
  await first.exited;
  expect(await lateness()).toBeLessThan(promisedMs);
  const { rows } =
    await sql`select from pending_deliveries where organization_id = ${organizationId} and lease_count > 0`.execute(
      stage.db,
    );
  expect(rows).toHaveLength(0);
});
