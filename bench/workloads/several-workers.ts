import { until } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { audit, ledgerProblems } from '../measure/audit.ts';
import { difference, total } from '../measure/cpu.ts';
import { deliver } from '../measure/deliver.ts';
import { untilReceived } from '../measure/until-received.ts';
import { sampleWaits } from '../measure/waits.ts';
import { emission } from '../stage/emission.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

const organizations = 100;
/** Four processes on two cores may record their last outcomes seconds after the last delivery. */
const recordedWithinMs = 30_000;

/** W9b: the same backlog drained by one, two and four workers: CPU per delivery, each worker's share, and what statements wait for. */
export async function severalWorkers(context: RunContext): Promise<Finding> {
  const figures: Record<string, number> = {};
  const problems: string[] = [];
  const counts = context.round % 2 === 1 ? [1, 2, 4] : [4, 2, 1];
  for (const workers of counts) {
    const drained = await drain(context, workers);
    problems.push(...drained.problems);
    for (const [name, value] of Object.entries(drained.figures)) figures[`${name}_of_${workers}`] = value;
  }
  const cost = (workers: number) => figures[`cpu_us_of_${workers}`] ?? Number.NaN;
  return { figures: { ...figures, ratio_of_2: cost(2) / cost(1), ratio_of_4: cost(4) / cost(1) }, problems };
}

async function drain({ lab, sizes, setting }: RunContext, workers: number): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting, worker: false });
  const { organizationIds } = await subscribe(stage.db, lab.receiverPort, { organizations, webhooks: 1 });
  const { closed } = emission(stage, organizationIds);
  for (let number = 1; number <= workers; number++) {
    await stage.startWorker({ DATABASE_URL: withApplicationName(stage.databaseUrl, `worker_${number}`) });
  }
  // Each worker compiles its own code: without as many events for each, four would be compared cold with one that is warm.
  const warm = await deliver(stage, closed(sizes.warmUp * workers, 50), { webhooksPerEvent: 1 });
  const backlog = (events: number) => ({ load: closed(events, 50), events });
  // The first backlog is the first time that each worker is full: it makes all its connections to receivers then.
  const first = await drainBacklog(stage, backlog(sizes.sharedBacklog * workers));
  const second = await drainBacklog(stage, backlog(sizes.sharedBacklog));
  const ledger = await ledgerProblems(stage.db, sizes.sharedBacklog * (workers + 1) + sizes.warmUp * workers);
  const ofFirst = Object.entries(first.figures).filter(([name]) => name === 'cpu_us' || name === 'connections');
  return {
    figures: { ...second.figures, ...Object.fromEntries(ofFirst.map(([name, value]) => [`first_${name}`, value])) },
    problems: [...warm.problems, ...first.problems, ...second.problems, ...ledger],
  };
}

interface Backlog {
  load: ReturnType<ReturnType<typeof emission>['closed']>;
  events: number;
}

/** Emits while all workers are suspended, and measures from when they go on until all outcomes are recorded. */
async function drainBacklog(stage: BenchStage, { load, events }: Backlog): Promise<Finding> {
  const { generator, receiver } = stage.lab;
  stage.suspendWorkers(true);
  const start = await receiver.call('position', null);
  const emitted = await generator.call('run', load);
  const cpuBefore = stage.cpu();
  stage.suspendWorkers(false);
  const allReceived = untilReceived(receiver, { since: start, accepted: events });
  const [waits] = await Promise.all([sampleWaits(stage.db, allReceived), allReceived]);
  await untilRecorded(stage);
  const cpu = difference(cpuBefore, stage.cpu());
  const received = await receiver.call('received', start);
  const deliveries = received.statuses.filter((status) => status === 200).length;
  const ofWorkers = Object.entries(cpu).flatMap(([name, time]) => (name.startsWith('worker') ? [time] : []));
  const sum = ofWorkers.reduce((all, each) => all + each, 0);
  return {
    figures: {
      ...(total(cpu) > 0 && { cpu_us: total(cpu) / deliveries, workers_us: sum / deliveries }),
      postgres_us: (cpu.postgres ?? Number.NaN) / deliveries,
      least_share: Math.min(...ofWorkers) / sum,
      greatest_share: Math.max(...ofWorkers) / sum,
      connections: received.connections,
      statements_seen: waits.executing,
      waiting_for_locks: waits.lock,
      waiting_for_locks_of_other_workers: waits.lockOfOtherWorker,
      waiting_internally: waits.internal,
      waiting_for_disk: waits.disk,
      ...Object.fromEntries([...waits.holders].map(([names, times]) => [`lock (${names})`, times])),
    },
    problems: await audit(emitted, received, { webhooksPerEvent: 1 }),
  };
}

async function untilRecorded({ db }: BenchStage): Promise<void> {
  const isNothingPending = async () => {
    const { rows } = await sql`select from pending_deliveries limit 1`.execute(db);
    return rows.length === 0;
  };
  await until('all outcomes are recorded', isNothingPending, { withinMs: recordedWithinMs });
}

/** The name by which a statement's session is known in pg_stat_activity: that of the one worker instead of all. */
function withApplicationName(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('application_name', name);
  return url.href;
}
