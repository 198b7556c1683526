import { setTimeout as pause } from 'node:timers/promises';
import { audit, ledgerProblems } from '../measure/audit.ts';
import { queuedJobs } from '../measure/bytes.ts';
import { difference, total } from '../measure/cpu.ts';
import { untilReceived } from '../measure/until-received.ts';
import { emission } from '../stage/emission.ts';
import { openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

/** As after every load: the last outcomes are recorded. */
const settleMs = 300;

/** W9: a backlog of events that were emitted while no worker ran, drained by a new worker. */
export async function backlog({ lab, sizes, setting }: RunContext): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting, worker: false });
  const { organizationIds } = await subscribe(stage.db, lab.receiverPort, { organizations: 1, webhooks: 1 });
  const { closed } = emission(stage, organizationIds);
  const { generator, receiver } = lab;
  const start = await receiver.call('position', null);
  const { url } = lab.stores.redis;
  const empty = await queuedJobs(url);
  const load = await generator.call('run', closed(sizes.backlog, 50));
  const full = await queuedJobs(url);
  await stage.startWorker();
  // The start of a process is not part of the cost of a delivery: neither CPU time nor deliveries before it is ready
  // count.
  const cpuBefore = stage.cpu();
  const ready = await receiver.call('position', null);
  const readyAt = performance.now();
  await untilReceived(receiver, { since: start, accepted: sizes.backlog });
  const seconds = (performance.now() - readyAt) / 1_000;
  await pause(settleMs);
  const cpu = difference(cpuBefore, stage.cpu());
  const received = await receiver.call('received', start);
  const deliveries = received.requests - (ready.requests - start.requests);
  const ledger = await ledgerProblems(stage.db, sizes.backlog);
  return {
    figures: {
      ...(total(cpu) > 0 && { cpu_us: total(cpu) / deliveries }),
      drained_per_second: deliveries / seconds,
      queued_jobs: full.jobs,
      redis_bytes: (full.usedMemory - empty.usedMemory) / sizes.backlog,
    },
    problems: [...(await audit(load, received, { webhooksPerEvent: 1 })), ...ledger],
  };
}
