import type { Finding } from './finding.ts';
import { apiEvent, post, quantile, steadily } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** R8: some endpoints never answer; what do the others notice? */
export interface HangingEndpoints {
  webhooks: number;
  hanging: number;
  /** Of all events, so many go to endpoints that hang. */
  hangingShare: number;
  eventsPerSecond: number;
  /** Time that is measured, after as much of warming up with the same load. */
  measuredMs: number;
  settings: Record<string, string>;
  /** The promise is 2; a short run on a busy machine measures more noise than endpoints. */
  allowedRatio: number;
}

/** The same load twice, on the same processes: first everybody answers, then some hang. */
export async function hangEndpoints(stores: Stores, size: HangingEndpoints): Promise<Finding> {
  await using stage = await openFaultStage(stores, size.settings);
  const organizations: string[] = [];
  for (let n = 0; n < size.webhooks; n++) {
    organizations.push((await stage.subscribe([n < size.hanging ? '/hanging' : '/healthy'])).organizationId);
  }
  let hang = false;
  const gate = Promise.withResolvers<void>();
  stage.requests.respond(async ({ path }) => {
    if (hang && path === '/hanging') await gate.promise;
    return {};
  });
  const api = await stage.startApi();
  const worker = await stage.startWorker();
  const load = { ...size, organizations, internalUrl: api.internalUrl };
  await drive(stage, load);
  const without = await drive(stage, load);
  hang = true;
  await drive(stage, load);
  const during = await drive(stage, load);
  hang = false;
  gate.resolve();
  await worker.stop();
  const [before, after] = [describe(without), describe(during)];
  const ratio = Math.round((after.p99 / before.p99) * 100) / 100;
  const healthy = await countOpenHealthy(stage);
  return {
    lost: healthy,
    // A request that hangs is tried again, as it should be.
    duplicates: healthyDuplicates(stage),
    figures: {
      'hanging of webhooks': `${size.hanging} of ${size.webhooks}`,
      'healthy p50 without, with (ms)': `${before.p50}, ${after.p50}`,
      'healthy p99 without, with (ms)': `${before.p99}, ${after.p99}`,
      'p99 ratio': ratio,
    },
    broken: [
      ...(ratio <= size.allowedRatio ? [] : [`healthy p99 is ${ratio} times that of the run without`]),
      ...(after.missing === 0 ? [] : [`${after.missing} healthy deliveries had not been sent 20 s later`]),
      ...(healthy === 0 ? [] : [`${healthy} healthy deliveries were not made`]),
    ],
  };
}

function describe({ times, emitted }: Measured) {
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), missing: emitted - times.length };
}

interface Measured {
  emitted: number;
  /** From emission to arrival, in ms. */
  times: number[];
}

interface Load extends HangingEndpoints {
  organizations: string[];
  internalUrl: string;
}

/** Emits at a steady rate, and measures what healthy endpoints got. */
async function drive(stage: FaultStage, load: Load): Promise<Measured> {
  const emittedAt = new Map<string, number>();
  const healthy = load.organizations.slice(load.hanging);
  const hanging = load.organizations.slice(0, load.hanging);
  let turn = 0;
  const firstRequest = stage.requests.sent.length;
  const emission = steadily(load.eventsPerSecond, async () => {
    turn += 1;
    const toHanging = turn % Math.round(1 / load.hangingShare) === 0;
    const pool = toHanging ? hanging : healthy;
    const posted = await post(load.internalUrl, [apiEvent(pool[turn % pool.length] ?? '')]);
    const id = posted.events[0]?.id;
    if (!toHanging && id !== undefined) emittedAt.set(id, posted.at);
  });
  await new Promise((resolve) => setTimeout(resolve, load.measuredMs));
  await emission.stop();
  await untilHealthyArrived(stage, firstRequest, emittedAt.size);
  const times = stage.requests.sent.slice(firstRequest).flatMap((request) => {
    const at = emittedAt.get(request.publicEventId);
    return at === undefined ? [] : [request.at - at];
  });
  return { emitted: emittedAt.size, times };
}

async function untilHealthyArrived(stage: FaultStage, from: number, count: number): Promise<void> {
  const deadline = performance.now() + 20_000;
  const arrived = () => stage.requests.sent.slice(from).filter(({ path }) => path === '/healthy').length;
  while (arrived() < count && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
}

function healthyDuplicates(stage: FaultStage): number {
  const healthy = stage.requests.sent.filter(({ path }) => path === '/healthy');
  return healthy.length - new Set(healthy.map((request) => request.deliveryId)).size;
}

async function countOpenHealthy({ db, url }: FaultStage): Promise<number> {
  const rows = await db
    .selectFrom('deliveries')
    .innerJoin('webhooks', 'webhooks.id', 'deliveries.webhook_id')
    .select('deliveries.id')
    .where('webhooks.url', '=', url('/healthy'))
    .where('deliveries.status', '<>', 'succeeded')
    .execute();
  return rows.length;
}
