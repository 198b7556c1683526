import { startReceiverProcess } from '@enterprise-api/testkit';
import type { Finding } from './finding.ts';
import { isDelayed, type Latency, type LatencyLimit, type MeasuredLoad, measureLatency, ratioOf } from './latency.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** R8: endpoints that never answer must not delay the deliveries to others. */
export interface HangingEndpoints extends LatencyLimit {
  webhooks: number;
  hanging: number;
  eventsPerSecond: number;
  /** Time that is measured, after as much of warming up with the same load. */
  measuredMs: number;
  settings: Record<string, string>;
}

const healthyPath = '/healthy';

/**
 * Each webhook has an organization and, if it hangs, a host of its own.
 *
 * @param size.hangingShare the part of all events that goes to endpoints that hang
 */
export async function hangEndpoints(
  stores: Stores,
  size: HangingEndpoints & { hangingShare: number },
): Promise<Finding> {
  await using stage = await openFaultStage(stores, size.settings);
  const organizations: string[] = [];
  await using other = await startReceiverProcess(stage.certificate);
  for (let n = 0; n < size.webhooks; n++) {
    const { organizationId } = await stage.subscribe(
      [healthyPath],
      n < size.hanging ? { url: other.url('/hanging') } : {},
    );
    organizations.push(organizationId);
  }
  const healthy = organizations.slice(size.hanging);
  const hanging = organizations.slice(0, size.hanging);
  return await compare(stage, size, {
    hang: other.hang,
    deliveriesPerEvent: 1,
    isMeasuredRequest: () => true,
    target: (n) => {
      const isMeasured = n % Math.round(1 / size.hangingShare) !== 0;
      const pool = isMeasured ? healthy : hanging;
      return { organizationId: pool[n % pool.length] ?? '', isMeasured };
    },
  });
}

/** All webhooks belong to one organization and to one host; every event goes to each of them. */
export async function hangEndpointsOfOneHost(stores: Stores, size: HangingEndpoints): Promise<Finding> {
  await using stage = await openFaultStage(stores, size.settings);
  const isHealthy = (n: number) => n >= size.hanging;
  const paths = Array.from({ length: size.webhooks }, (_, n) => `${isHealthy(n) ? healthyPath : '/hanging'}/${n}`);
  const { organizationId } = await stage.subscribe(paths);
  return await compare(stage, size, {
    hang: (on) => {
      stage.requests.respond(({ path }) => (on && !path.startsWith(healthyPath) ? 'hang' : {}));
    },
    deliveriesPerEvent: size.webhooks - size.hanging,
    isMeasuredRequest: ({ path }) => path.startsWith(healthyPath),
    target: () => ({ organizationId, isMeasured: true }),
  });
}

interface Traffic extends Pick<MeasuredLoad, 'target' | 'deliveriesPerEvent' | 'isMeasuredRequest'> {
  hang(on: boolean): Promise<void> | void;
}

/** The same load twice, on the same processes: first every endpoint answers, then some hang. */
async function compare(stage: FaultStage, size: HangingEndpoints, { hang, ...load }: Traffic): Promise<Finding> {
  const api = await stage.startApi();
  const worker = await stage.startWorker();
  const measure = () => measureLatency(stage, { ...size, ...load, internalUrl: api.internalUrl });
  await measure();
  const before = await measure();
  await hang(true);
  await measure();
  const after = await measure();
  await hang(false);
  await worker.stop();
  return judge(size, { before, after, open: await countOpenHealthy(stage), duplicates: stage.requests.duplicates() });
}

function judge(
  size: HangingEndpoints,
  { before, after, open, duplicates }: { before: Latency; after: Latency; open: number; duplicates: number },
): Finding {
  const ratio = ratioOf(after, before);
  return {
    lost: open,
    duplicates,
    figures: {
      'hanging of webhooks': `${size.hanging} of ${size.webhooks}`,
      'healthy p50 without, with (ms)': `${before.p50}, ${after.p50}`,
      'healthy p99 without, with (ms)': `${before.p99}, ${after.p99}`,
      'p99 ratio': ratio,
    },
    broken: [
      ...(isDelayed(after, before, size) ? [`healthy p99 is ${ratio} times that of the run without`] : []),
      ...(after.missing === 0 ? [] : [`${after.missing} healthy deliveries had not been sent a minute later`]),
      ...(open === 0 ? [] : [`${open} healthy deliveries were not made`]),
    ],
  };
}

async function countOpenHealthy({ db, url }: FaultStage): Promise<number> {
  const rows = await db
    .selectFrom('deliveries')
    .innerJoin('webhooks', 'webhooks.id', 'deliveries.webhook_id')
    .select('deliveries.id')
    .where('webhooks.url', 'like', `${url(healthyPath)}%`)
    .where('deliveries.status', '<>', 'succeeded')
    .execute();
  return rows.length;
}
