import type { Finding } from './finding.ts';
import { measureLatency, ratioOf } from './latency.ts';
import { startOtherReceiver } from './other-receiver.ts';
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
  await using other = await startOtherReceiver(stage.certificate);
  for (let n = 0; n < size.webhooks; n++) {
    const { organizationId } = await stage.subscribe(['/healthy'], n < size.hanging ? { url: other.url } : {});
    organizations.push(organizationId);
  }
  const api = await stage.startApi();
  const worker = await stage.startWorker();
  const healthy = organizations.slice(size.hanging);
  const hanging = organizations.slice(0, size.hanging);
  const measure = () =>
    measureLatency(stage, {
      ...size,
      internalUrl: api.internalUrl,
      target: (n) => {
        const isMeasured = n % Math.round(1 / size.hangingShare) !== 0;
        const pool = isMeasured ? healthy : hanging;
        return { organizationId: pool[n % pool.length] ?? '', isMeasured };
      },
    });
  await measure();
  const before = await measure();
  other.hang(true);
  await measure();
  const after = await measure();
  other.hang(false);
  await worker.stop();
  const ratio = ratioOf(after, before);
  const open = await countOpenHealthy(stage);
  return {
    lost: open,
    duplicates: stage.requests.duplicates(),
    figures: {
      'hanging of webhooks': `${size.hanging} of ${size.webhooks}`,
      'healthy p50 without, with (ms)': `${before.p50}, ${after.p50}`,
      'healthy p99 without, with (ms)': `${before.p99}, ${after.p99}`,
      'p99 ratio': ratio,
    },
    broken: [
      ...(ratio <= size.allowedRatio ? [] : [`healthy p99 is ${ratio} times that of the run without`]),
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
    .where('webhooks.url', '=', url('/healthy'))
    .where('deliveries.status', '<>', 'succeeded')
    .execute();
  return rows.length;
}
