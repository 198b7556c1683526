import { startFaultProxy, throughProxy, until } from '@enterprise-api/testkit';
import { conclude, type Finding, stopAll, untilSettled } from './finding.ts';
import { emit, fannedOutByJobs } from './load.ts';
import { openFaultStage, type Stores } from './stage.ts';

/** F9: the ledger answers when the processes start, and the queue's own connections to the same PostgreSQL fail. */
export interface QueueAway {
  events: number;
  settleWithinMs: number;
}

/** Only the queue's connections send this, in their first bytes. */
const queueStartup = 'enterprise-api-queue';

export async function startWithoutQueue(stores: Stores, size: QueueAway): Promise<Finding> {
  await using resources = new AsyncDisposableStack();
  await using stage = await openFaultStage(stores);
  const { hostname, port } = new URL(stage.databaseUrl);
  const proxy = resources.use(await startFaultProxy({ host: hostname, port: Number(port) }));
  const url = throughProxy(stage.databaseUrl, proxy);
  const settings = { DATABASE_URL: url, DATABASE_DIRECT_URL: url };
  const { organizationId } = await stage.subscribe(['/hook']);
  proxy.refuse(queueStartup);
  const worker = await stage.startWorker(settings);
  const api = await stage.startApi(settings);
  await emit(api.internalUrl, organizationId, size.events);
  await untilSettled(stage, size.events, size.settleWithinMs);
  const byJobs = await fannedOutByJobs(worker);
  proxy.restore();
  let events = size.events;
  const emitOne = async () => {
    await emit(api.internalUrl, organizationId, 1);
    events += 1;
    return (await fannedOutByJobs(worker)) > 0;
  };
  await until('events fanned out by jobs', emitOne, { withinMs: size.settleWithinMs, everyMs: 50 });
  await untilSettled(stage, events, size.settleWithinMs);
  const badEnds = await stopAll([worker, api]);
  const duplicates = stage.requests.duplicates();
  const figures = { 'delivered without a queue': size.events, 'and with it': events - size.events };
  return await conclude(stage, events, figures, {
    [`${byJobs} events were fanned out by jobs of a queue that was away`]: byJobs === 0,
    [badEnds.join('; ')]: badEnds.length === 0,
    [`${duplicates} deliveries sent twice`]: duplicates === 0,
  });
}
