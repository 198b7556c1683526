import { startFaultProxy, throughProxy } from '@enterprise-api/testkit';
import { conclude, type Finding, stopAll, untilSettled } from './finding.ts';
import { emit, eventually } from './load.ts';
import { takenByJobs } from './metrics.ts';
import { openFaultStage, type Stores } from './stage.ts';

/** F9: the ledger is there when the processes start, and the queue's own connections to the same PostgreSQL fail. */
export interface QueueAway {
  events: number;
  settleWithinMs: number;
}

/** Only BullMQ's connections say this, in their first bytes. */
const mark = 'search_path="bullmq"';

export async function startWithoutQueue(stores: Stores, size: QueueAway): Promise<Finding> {
  await using resources = new AsyncDisposableStack();
  await using stage = await openFaultStage(stores);
  const { hostname, port } = new URL(stage.databaseUrl);
  const proxy = resources.use(await startFaultProxy({ host: hostname, port: Number(port) }));
  const settings = { DATABASE_URL: throughProxy(stage.databaseUrl, proxy) };
  const { organizationId } = await stage.subscribe(['/hook']);
  proxy.refuse(mark);
  const worker = await stage.startWorker(settings);
  const api = await stage.startApi(settings);
  await emit(api.internalUrl, organizationId, size.events);
  await untilSettled(stage, size.events, size.settleWithinMs);
  const byJobs = await takenByJobs(worker);
  proxy.restore();
  let events = size.events;
  await eventually(
    async () => {
      await emit(api.internalUrl, organizationId, 1);
      events += 1;
      return (await takenByJobs(worker)) > 0;
    },
    size.settleWithinMs,
    'events taken by jobs',
  );
  await untilSettled(stage, events, size.settleWithinMs);
  const badEnds = await stopAll([worker, api]);
  const duplicates = stage.requests.duplicates();
  return await conclude(
    stage,
    events,
    { 'delivered without a queue': size.events, 'and with it': events - size.events },
    {
      [`${byJobs} events were taken by jobs of a queue that was away`]: byJobs === 0,
      [badEnds.join('; ')]: badEnds.length === 0,
      [`${duplicates} deliveries sent twice`]: duplicates === 0,
    },
  );
}
