import { lowest, until } from '@enterprise-api/testkit';
import { type Finding, untilSettled } from './finding.ts';
import { emit } from './load.ts';
import { openFaultStage, type Stores } from './stage.ts';

/** R9: gaps between attempts, and the spread of many that fail at once. Lateness is measured again on a machine that stalls. */
export interface RetryTiming {
  /** The schedule of the few whose gaps are measured; its jitter is 0.2. */
  schedule: number[];
  deliveries: number;
  /** Deliveries that fail at once. */
  many: number;
  /** The webhooks that they are for. */
  manyWebhooks: number;
  /** They are due again within this time. */
  windowSeconds: number;
  /** The largest part of the retries that may fall into one second. */
  allowedShare: number;
}

/** Dispatch looks every second when it is idle; the rest is for recording the outcome and sending. */
const tickMs = 1_400;

export async function timeRetries(stores: Stores, size: RetryTiming): Promise<Finding> {
  const broken: string[] = [];
  let gaps: Gaps[] = [];
  const latestMs = await lowest(tickMs, async () => {
    gaps = await measureGaps(stores, size);
    const early = gaps.filter(({ seconds, shortest }) => shortest < seconds);
    broken.push(...early.map(({ seconds, shortest }) => `a gap of ${seconds} s was ${shortest} s`));
    return 1_000 * Math.max(...gaps.map(({ seconds, longest }) => longest - seconds * 1.2));
  });
  let lost = 0;
  const fullest = await lowest(size.allowedShare, async () => {
    const spread = await measureSpread(stores, size);
    lost += spread.lost;
    return spread.fullest;
  });
  if (latestMs > tickMs) broken.push(`the retries after ${describe(gaps)} came up to ${latestMs} ms late`);
  if (fullest > size.allowedShare) broken.push(`one second had ${fullest * 100} % of the retries`);
  if (lost > 0) broken.push(`${lost} deliveries did not succeed`);
  return {
    lost,
    duplicates: 0,
    figures: {
      'gaps (s)': describe(gaps),
      'failing at once': size.many,
      'window (s)': size.windowSeconds,
      'fullest second (%)': Math.round(fullest * 1_000) / 10,
    },
    broken,
  };
}

/** The times between two attempts of a delivery, in seconds. */
interface Gaps {
  /** As the schedule says, without jitter. */
  seconds: number;
  shortest: number;
  longest: number;
}

function describe(gaps: readonly Gaps[]): string {
  return gaps.map(({ seconds, shortest, longest }) => `${seconds}: ${shortest}–${longest}`).join('; ');
}

async function measureGaps(stores: Stores, size: RetryTiming): Promise<Gaps[]> {
  const schedule = size.schedule.map((seconds) => `${seconds * 1_000}ms`).join();
  await using stage = await openFaultStage(stores, { WEBHOOK_RETRY_SCHEDULE: schedule });
  const { organizationId } = await stage.subscribe(['/failing']);
  // 400 does not count for the circuit breaker, which would put its own times in the place of the schedule's.
  stage.requests.respond(() => ({ status: 400 }));
  const api = await stage.startApi();
  const worker = await stage.startWorker();
  await emit(api.internalUrl, organizationId, size.deliveries);
  const total = size.schedule.reduce((sum, seconds) => sum + seconds * 1.2 + 2, 20);
  await untilSettled(stage, size.deliveries, total * 1_000);
  await worker.stop();
  const attempts = await stage.db.selectFrom('all_attempts').selectAll().orderBy('number').execute();
  const byDelivery = Map.groupBy(attempts, (attempt) => attempt.delivery_id);
  return size.schedule.map((seconds, index) => {
    const measured = [...byDelivery.values()].flatMap((row) => {
      const [before, after] = [row[index], row[index + 1]];
      if (!before || !after) return [];
      return [(after.started_at.getTime() - before.started_at.getTime() - before.duration_ms) / 1_000];
    });
    return { seconds, shortest: Math.min(...measured), longest: Math.max(...measured) };
  });
}

async function measureSpread(stores: Stores, size: RetryTiming): Promise<{ fullest: number; lost: number }> {
  const baseMs = 2_000;
  const jitter = (size.windowSeconds * 1_000) / baseMs;
  await using stage = await openFaultStage(stores, {
    WEBHOOK_RETRY_SCHEDULE: `${baseMs}ms`,
    WEBHOOK_RETRY_JITTER: String(Math.min(10, jitter)),
    ...(jitter > 10 && { WEBHOOK_RETRY_SCHEDULE: `${Math.ceil(size.windowSeconds / 10)}s` }),
  });
  const paths = Array.from({ length: size.manyWebhooks }, (_, n) => `/${n}`);
  const { organizationId } = await stage.subscribe(paths);
  stage.requests.respond(({ attempt }) => ({ status: attempt === 1 ? 400 : 200 }));
  const api = await stage.startApi();
  await emit(api.internalUrl, organizationId, size.many / size.manyWebhooks);
  const worker = await stage.startWorker();
  const within = (size.windowSeconds * 2 + 60) * 1_000;
  await until('all first attempts', () => stage.requests.sent.length >= size.many, { withinMs: within });
  await untilSettled(stage, size.many, within);
  await worker.stop();
  const seconds = new Map<number, number>();
  for (const { attempt, at } of stage.requests.sent) {
    if (attempt === 2) seconds.set(Math.floor(at / 1_000), (seconds.get(Math.floor(at / 1_000)) ?? 0) + 1);
  }
  const succeeded = await stage.db.selectFrom('deliveries').select('id').where('status', '=', 'succeeded').execute();
  return { fullest: Math.max(...seconds.values()) / size.many, lost: size.many - succeeded.length };
}
