import type { Database } from '@enterprise-api/shared/ledger';
import { residentMemory, until } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { deliver, deliveryFigures } from '../measure/deliver.ts';
import { grown, ledgerSize } from '../measure/ledger-growth.ts';
import { emission } from '../stage/emission.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';
import { fanOutShape } from './full-load.ts';

const payloadBytes = [256, 1_024, 4_096, 16_384];
/** So many of the first attempts fail that attempts have rows, and so few that no circuit opens. */
const failFirstAttemptsEvery = 3;
const hangingWebhooks = 400;
const perMegabyte = 1e6;

/** W15: the factors of docs/operations/scale.md: bytes in PostgreSQL, of its log and on the wire, connections, and memory. */
export async function sizes(context: RunContext): Promise<Finding> {
  const findings = [await memory(context), await fanOutBytes(context)];
  for (const bytes of payloadBytes) findings.push(await eventCosts(context, bytes));
  return {
    figures: Object.assign({}, ...findings.map(({ figures }) => figures)),
    problems: findings.flatMap(({ problems }) => problems),
  };
}

/** Events of one size to one webhook: CPU time, bytes of an event, and bytes of what was sent. */
async function eventCosts({ lab, sizes: { warmUp, events }, setting }: RunContext, bytes: number): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting });
  const { organizationIds } = await subscribe(stage.db, lab.receiverPort, { organizations: 1, webhooks: 1 });
  const { closed } = emission(stage, organizationIds, { payloadBytes: bytes });
  const count = Math.ceil(events / 2);
  const warm = await deliver(stage, closed(warmUp, 50), { webhooksPerEvent: 1 });
  const before = await ledgerSize(stage.db);
  const measured = await deliver(stage, closed(count, 50), { webhooksPerEvent: 1 });
  const after = await ledgerSize(stage.db);
  const { samples } = measured.received;
  const sent = samples.map(({ head, body }) => Buffer.byteLength(head) + body.byteLength);
  const figures = {
    ...deliveryFigures(measured),
    event_bytes: (grown(before, after, 'events') + grown(before, after, 'event_bodies')) / count,
    event_indexes: (grown(before, after, 'events_indexes') + grown(before, after, 'event_bodies_indexes')) / count,
    wal_bytes: (after.wal - before.wal) / count,
    request_bytes: sent.reduce((sum, each) => sum + each, 0) / sent.length,
  };
  return {
    figures: Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${name}_at_${bytes}`, value])),
    problems: [...warm.problems, ...measured.problems],
  };
}

/** Each event to a hundred webhooks: bytes of a delivery and of a failed attempt, and the connections that are open then. */
async function fanOutBytes({ lab, sizes: { fanOut }, setting }: RunContext): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting });
  const { organizationIds } = await subscribe(stage.db, lab.receiverPort, fanOutShape);
  const { closed } = emission(stage, organizationIds);
  const expected = { webhooksPerEvent: fanOutShape.webhooks };
  const warm = await deliver(stage, closed(fanOut.warmUp, 8), expected);
  const before = await ledgerSize(stage.db);
  const measured = await deliver(stage, closed(fanOut.events, 8), expected);
  const after = await ledgerSize(stage.db);
  const open = await connections(stage.db);
  await lab.receiver.call('script', { failFirstAttemptsEvery });
  const failing = await deliver(stage, closed(fanOut.events, 8), expected);
  const last = await ledgerSize(stage.db);
  const attempts = last.attempts - after.attempts;
  return {
    figures: {
      delivery_bytes: grown(before, after, 'deliveries') / measured.deliveries,
      delivery_indexes: grown(before, after, 'deliveries_indexes') / measured.deliveries,
      delivery_wal_bytes: (after.wal - before.wal) / measured.deliveries,
      attempt_bytes: (grown(after, last, 'attempts') + grown(after, last, 'attempts_indexes')) / attempts,
      attempt_rows: attempts,
      ...open,
    },
    problems: [...warm.problems, ...measured.problems, ...failing.problems],
  };
}

/** Connections of each process to PostgreSQL. */
async function connections(db: Database): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; count: number }>`
    select application_name as name, count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name in ('enterprise-api', 'enterprise-api-webhook-worker')
    group by 1`.execute(db);
  return Object.fromEntries(rows.map(({ name, count }) => [`connections of ${name}`, count]));
}

/** Memory of the processes at rest, and of a worker with requests under way that nobody answers. */
async function memory({ lab, setting }: RunContext): Promise<Finding> {
  // Longer than a busy machine needs for all handshakes: no request may time out before the last one has come.
  const settings = { WEBHOOK_TIMEOUT_MS: '120000' };
  await using stage = await openBenchStage(lab, { setting, settings });
  const shape = { organizations: 1, webhooks: hangingWebhooks };
  const { organizationIds } = await subscribe(stage.db, lab.receiverPort, shape);
  const atRest = resident(stage);
  const hanging = Array.from({ length: hangingWebhooks }, (_, webhook) => webhook);
  await lab.receiver.call('script', { hanging });
  await lab.generator.call('run', emission(stage, organizationIds).closed(1, 1));
  const arrived = async () => (await lab.receiver.call('position', null)).requests >= hangingWebhooks;
  await until('all requests are under way', arrived, { withinMs: 60_000 });
  const during = resident(stage);
  return {
    figures: {
      api_mb_at_rest: atRest.api ?? Number.NaN,
      worker_mb_at_rest: atRest.worker ?? Number.NaN,
      [`worker_mb_with_${hangingWebhooks}_requests`]: during.worker ?? Number.NaN,
    },
    problems: [],
  };
}

function resident(stage: BenchStage): Record<string, number> {
  return Object.fromEntries(
    Object.entries(stage.pids()).map(([name, pid]) => [name, residentMemory(pid).now / perMegabyte]),
  );
}
