import {
  type Answer,
  drip,
  endlessBody,
  endlessHeaders,
  informationalStorm,
  insertOrganization,
  residentMemory,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openTestStage, type TestStage } from '../e2e/stage.ts';

const receivers = 100;
/** The fifth failure in a row opens the breaker: a sixth round would only wait. */
const rounds = 5;
const maxGrowthMiB = 64;

const hostile: (() => Answer)[] = [
  () => endlessBody(),
  () => endlessBody(500),
  endlessHeaders,
  () => informationalStorm(103, 1),
  () => drip(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(10_000)}`, 5),
];

let stage: TestStage;

beforeAll(async () => {
  const start = async () => ({ redisUrl: undefined, close: async () => undefined });
  stage = await openTestStage({ name: 'postgres', start });
});
afterAll(() => stage.close());

describe('a hundred receivers whose answers have no end', () => {
  it(`cost a worker at most ${maxGrowthMiB} MiB, and delay no other delivery`, async () => {
    let isHostile = false;
    const receiver = await stage.startReceiver({
      respond: ({ path }) => (isHostile ? (hostile[Number(path.slice(1)) % hostile.length]?.() ?? {}) : {}),
    });
    const customers = await Promise.all(
      Array.from({ length: receivers }, (_, index) => stage.subscribe({ url: receiver.url(`/${index}`) })),
    );
    const bystander = await stage.subscribe({ organizationId: await insertOrganization(stage.db) });
    // One attempt per delivery, of at most 3 s: a round begins when no request of the one before is open.
    const worker = await stage.startWorker({ WEBHOOK_TIMEOUT_MS: '3000', WEBHOOK_RETRY_SCHEDULE: '24h' });
    const runRound = async (round: number) => {
      await stage.producer.emit([...customers, bystander].map(({ organizationId }) => testEvent(organizationId)));
      await stage.untilDeliveries(
        bystander.organizationId,
        (rows) => rows.length === round && rows.every((row) => row.status === 'succeeded'),
      );
      const attempts = round * (receivers + 1);
      const holds = (count: number) => count >= attempts;
      await until(`${attempts} attempts`, () => countAttempts(stage), { holds, everyMs: 50 });
      return lastToEnd(stage);
    };
    // Warm-up: the heap grows with any load until it reaches its working size.
    for (let round = 1; round <= rounds; round++) await runRound(round);
    const residentMiB = () => residentMemory(worker.pid).now / 1_048_576;
    const before = residentMiB();
    isHostile = true;
    let most = before;
    const sampling = setInterval(() => {
      most = Math.max(most, residentMiB());
    }, 50);
    try {
      // Attempts without an end last 3 s. A delivery that waits for them ends last.
      for (let round = rounds + 1; round <= 2 * rounds; round++)
        expect(await runRound(round)).not.toBe(bystander.organizationId);
    } finally {
      clearInterval(sampling);
    }
    expect(most - before).toBeLessThanOrEqual(maxGrowthMiB);
  });
});

/** The organization of the attempt that ended last. */
async function lastToEnd({ db }: TestStage): Promise<string | undefined> {
  const last = db
    .selectFrom('all_attempts')
    .innerJoin('deliveries', 'deliveries.id', 'all_attempts.delivery_id')
    .orderBy(sql`started_at + duration_ms * interval '1 ms'`, 'desc')
    .select('organization_id');
  return (await last.executeTakeFirst())?.organization_id;
}

async function countAttempts({ db }: TestStage): Promise<number> {
  const counted = db.selectFrom('all_attempts').select((eb) => eb.fn.countAll<number>().as('count'));
  return (await counted.executeTakeFirstOrThrow()).count;
}
