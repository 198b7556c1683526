import { fileURLToPath } from 'node:url';
import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
import { type ReceivedRequest, readMetric, testWebhookSecret, until } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { conclude, type Finding, stopAll, untilSettled } from './finding.ts';
import { emit } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** Processes that run with a wrong clock or a wrong key ring. */
export interface WrongProcesses {
  events: number;
  settleWithinMs: number;
}

const wrongClock = fileURLToPath(new URL('./wrong-clock.ts', import.meta.url));
const tenMinutes = 600_000;
const baseMs = 1_000;
/** With a jitter of 0.2. Dispatch, recording and sending take as long as a busy machine needs: a wrong clock is minutes off. */
const latestMs = baseMs * 1.2 + 15_000;

/**
 * F64: the clocks of the API and of both workers are wrong, each by ten minutes, in different directions. The receiver
 * verifies as Standard Webhooks says, and so refuses a timestamp that is more than five minutes off.
 */
export async function setClocksWrong(stores: Stores, size: WrongProcesses): Promise<Finding> {
  await using stage = await openFaultStage(stores, { WEBHOOK_RETRY_SCHEDULE: `${baseMs}ms,1h` });
  const { organizationId } = await stage.subscribe(['/0', '/1']);
  let refused = 0;
  stage.requests.respond(async ({ attempt }, received) => {
    if (!(await isVerified(received))) refused += 1;
    return { status: attempt === 1 ? 400 : 200 };
  });
  const off = (ms: number) => ({ NODE_OPTIONS: `--import=${wrongClock}`, WRONG_CLOCK_MS: String(ms) });
  const api = await stage.startApi(off(tenMinutes));
  const workers = [await stage.startWorker(off(tenMinutes)), await stage.startWorker(off(-tenMinutes))];
  await emit(api.internalUrl, organizationId, size.events);
  const deliveries = 2 * size.events;
  await untilSettled(stage, deliveries, size.settleWithinMs);
  const badEnds = await stopAll([...workers, api]);
  const byDelivery = Map.groupBy(stage.requests.sent, ({ deliveryId }) => deliveryId).values();
  const gaps = [...byDelivery].map(([first, second]) => (second?.at ?? Number.NaN) - (first?.at ?? Number.NaN));
  const [shortest, longest] = [Math.min(...gaps), Math.max(...gaps)];
  const finding = await conclude(
    stage,
    deliveries,
    {
      deliveries,
      'clocks off by (min)': '+10, +10, −10',
      'refused timestamps': refused,
      'retried after 1 s (ms)': `${shortest}–${longest}`,
    },
    {
      [`retries after ${shortest} to ${longest} ms`]: shortest >= baseMs && longest <= latestMs,
      [`${stage.requests.sent.length} requests`]: stage.requests.sent.length === 2 * deliveries,
      [`${refused} requests that a conforming receiver refuses`]: refused === 0,
      'attempts are recorded as of another time': await startedNow(stage),
      [badEnds.join('; ')]: badEnds.length === 0,
    },
  );
  // The second request of each is the retry that was asked for.
  return { ...finding, duplicates: finding.duplicates - deliveries };
}

/** The signature is right, and its timestamp at most five minutes off. */
function isVerified({ body, headers }: ReceivedRequest): Promise<boolean> {
  return verifyWebhook({ headers, rawBody: body, secret: testWebhookSecret }).then(
    () => true,
    () => false,
  );
}

async function startedNow({ db }: FaultStage): Promise<boolean> {
  const { rows } = await sql<{ off: number }>`
    select count(*) as off from attempts where abs(extract(epoch from clock_timestamp() - started_at)) > 300`.execute(
    db,
  );
  return Number(rows[0]?.off) === 0;
}

/** F41: a worker whose key ring opens none of the secrets, and then one that has the right one. */
export async function giveWrongKeys(stores: Stores, size: WrongProcesses): Promise<Finding> {
  await using stage = await openFaultStage(stores, { WEBHOOK_RETRY_SCHEDULE: '2s,2s,2s,2s,2s' });
  const { organizationId } = await stage.subscribe(['/0', '/1']);
  const otherRing = `other:${Buffer.alloc(32, 8).toString('base64')}`;
  const api = await stage.startApi();
  const wrong = await stage.startWorker({ SECRETS_ENCRYPTION_KEYS: otherRing });
  await emit(api.internalUrl, organizationId, size.events);
  const deliveries = 2 * size.events;
  const allAttempted = async () => (await unavailable(stage)) >= deliveries;
  await until('an attempt of each delivery', allAttempted, { withinMs: 20_000 });
  const unreadable = await readMetric(wrong.url, 'webhook_unreadable_secrets_total');
  const sentUnsigned = stage.requests.sent.length;
  const badEnds = await stopAll([wrong]);
  const right = await stage.startWorker();
  await untilSettled(stage, deliveries, size.settleWithinMs);
  badEnds.push(...(await stopAll([right, api])));
  return await conclude(
    stage,
    deliveries,
    { deliveries, 'attempts that sent nothing': await unavailable(stage), 'requests by the wrong ring': sentUnsigned },
    {
      [`${sentUnsigned} requests by a worker that could not sign`]: sentUnsigned === 0,
      'the metric does not show it': unreadable > 0,
      [badEnds.join('; ')]: badEnds.length === 0,
    },
  );
}

async function unavailable({ db }: FaultStage): Promise<number> {
  const rows = await db.selectFrom('all_attempts').select('id').where('error', '=', 'secret_unavailable').execute();
  return rows.length;
}
