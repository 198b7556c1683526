import {
  type EventType,
  type ExplainedWebhook,
  type Explanation,
  emittableEventTypeNames,
  eventPatterns,
  eventPatternsFor,
} from '@enterprise-api/shared/contracts';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import {
  type ApiCustomer,
  type ApiStage,
  createApiCustomer,
  openApiStage,
  type Receiver,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';

let stage: ApiStage;
let receiver: Receiver;

beforeAll(async () => {
  stage = await openApiStage();
  receiver = await stage.stage.startReceiver();
  await stage.stage.startWorker();
});
afterAll(async () => await stage[Symbol.asyncDispose]());

/** Makes everything in the ledger a minute older, once workers know of every change that it has ended. */
async function pass(): Promise<void> {
  const { db } = stage.stage;
  const open = sql`select from webhook_versions where change_ended_at is null`;
  await until('every change has ended', async () => (await open.execute(db)).rows.length === 0);
  const times = {
    webhooks: ['created_at', 'updated_at'],
    webhook_versions: ['change_began_at', 'change_ended_at'],
    events: ['created_at'],
    deliveries: ['created_at'],
    fan_outs: ['began_at', 'ended_at'],
  };
  for (const [table, columns] of Object.entries(times)) {
    const older = columns.map((name) => sql`${sql.ref(name)} = ${sql.ref(name)} - interval '1 minute'`);
    await sql`update ${sql.table(table)} set ${sql.join(older)}`.execute(db);
  }
}

const explain = async (customer: ApiCustomer, eventId: string): Promise<Explanation> =>
  (await customer.call('GET', `/v1/events/${eventId}/explain`)).body;

async function emit(customer: ApiCustomer, type: EventType): Promise<string> {
  const answer = await customer.emit([testEvent(customer.organizationId, { type })]);
  const { id } = answer.body.data[0];
  await until('the fan-out', () => explain(customer, id), { holds: (answered) => answered.fanned_out_at !== null });
  return id;
}

interface ModelWebhook {
  id: string;
  events: string[];
  enabled: boolean;
  isDeleted: boolean;
}

/** What the model expects of each webhook of an event: the reason, or `delivered`. */
type Expected = Map<string, string>;

const patterns = fc.uniqueArray(fc.constantFrom(...eventPatterns), { minLength: 1, maxLength: 3 });
const which = fc.nat(9);
const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), events: patterns, enabled: fc.boolean() }),
  fc.record({ kind: fc.constant('subscribe' as const), which, events: patterns }),
  fc.record({ kind: fc.constant('switch' as const), which }),
  fc.record({ kind: fc.constant('delete' as const), which }),
  fc.record({ kind: fc.constant('emit' as const), type: fc.constantFrom(...emittableEventTypeNames) }),
  fc.record({ kind: fc.constant('emit' as const), type: fc.constantFrom(...emittableEventTypeNames) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const outcomeNow = (webhook: ModelWebhook, type: EventType): string => {
  if (webhook.isDeleted) return 'deleted';
  if (!webhook.enabled) return 'disabled';
  return webhook.events.some((pattern) => eventPatternsFor(type).includes(pattern)) ? 'delivered' : 'not_subscribed';
};

async function play(customer: ApiCustomer, steps: readonly Step[]): Promise<void> {
  const webhooks: ModelWebhook[] = [];
  const events = new Map<string, Expected>();
  const path = (webhook: ModelWebhook) => `/v1/webhooks/${webhook.id}`;
  for (const each of steps) {
    const living = webhooks.filter(({ isDeleted }) => !isDeleted);
    const chosen = 'which' in each ? living[each.which % living.length] : undefined;
    if (each.kind === 'create') {
      const { events: subscribed, enabled } = each;
      const { id } = await customer.createWebhook(receiver.url(), { events: subscribed, enabled });
      webhooks.push({ id, events: subscribed, enabled, isDeleted: false });
      for (const expected of events.values()) expected.set(id, 'created_later');
    } else if (each.kind === 'emit') {
      const id = await emit(customer, each.type);
      events.set(id, new Map(living.map((webhook) => [webhook.id, outcomeNow(webhook, each.type)])));
    } else if (chosen !== undefined) {
      if (each.kind === 'delete') {
        chosen.isDeleted = true;
        await customer.call('DELETE', path(chosen));
        for (const expected of events.values())
          if (expected.get(chosen.id) === 'created_later') expected.delete(chosen.id);
      } else {
        if (each.kind === 'switch') chosen.enabled = !chosen.enabled;
        else chosen.events = each.events;
        await customer.call('PATCH', path(chosen), { enabled: chosen.enabled, events: chosen.events });
      }
    }
    await pass();
  }
  for (const [id, expected] of events) {
    const { data } = await explain(customer, id);
    expect(Object.fromEntries(data.map((row) => [row.webhook_id, summaryOf(row)]))).toEqual(
      Object.fromEntries([...expected].map(([webhook, outcome]) => [webhook, `${outcome}, certain`])),
    );
  }
}

function summaryOf({ outcome, reason, delivery_id, certain }: ExplainedWebhook): string {
  const isDelivered = delivery_id !== null && outcome !== 'skipped';
  return `${isDelivered ? 'delivered' : reason}, ${certain ? 'certain' : 'uncertain'}`;
}

it('an explanation agrees with a model of webhooks and events, after any history', async () => {
  const histories = fc.array(step, { minLength: 25, maxLength: 25 });
  const first: Step = { kind: 'create', events: ['*'], enabled: true };
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => play(await createApiCustomer(stage.api), [first, ...steps])),
    { numRuns: 3, endOnFailure: true },
  );
});

it('an explanation is uncertain if a change was under way during the fan-out', async () => {
  const { db } = stage.stage;
  const customer = await createApiCustomer(stage.api);
  const { id } = await customer.createWebhook(receiver.url(), { enabled: false });
  await pass();
  const change = await db.startTransaction().execute();
  await sql`update webhooks set state = 'enabled', disabled_reason = null, version = version + 1
    where id = ${fromPublicId('whk', id)}`.execute(change);
  const eventId = await emit(customer, 'batch.failed');
  const disabled = { webhook_id: id, outcome: 'skipped', reason: 'disabled' };
  expect((await explain(customer, eventId)).data).toMatchObject([{ ...disabled, certain: true }]);
  await change.commit().execute();
  expect((await explain(customer, eventId)).data).toMatchObject([{ ...disabled, certain: false }]);
  await pass();
  const later = await emit(customer, 'batch.failed');
  expect((await explain(customer, later)).data).toMatchObject([{ webhook_id: id, reason: null, certain: true }]);
  expect((await explain(customer, eventId)).data).toMatchObject([{ ...disabled, certain: false }]);
});
