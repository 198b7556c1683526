import { partitionedTables } from '@enterprise-api/shared/ledger';
import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { createApiClient } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { pageCosts } from '../measure/page-costs.ts';
import { statementCosts } from '../measure/statement-costs.ts';
import { addMonths, dropMonths, fillPeriod, monthsBefore, partitionsOf } from '../stage/fill-months.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

/** Partitions of a table in a ledger of two years; a new one has four, last month's and two to come among them. */
const partitionsWhenOld = 27;
const rowsPerMonth = 2_000;
/** Of recent rows: at the beginning of a month this many days are of two months. */
const recentDays = 5;
const dayMs = 24 * 3_600_000;

/**
 * W10b: the CPU time of the worker's statements, and of pages of the history, with the partitions of a new ledger and with those
 * of two years; then again without the old ones, so that a machine that becomes slower is not taken for a ledger that does.
 */
export async function age({ lab, sizes, setting }: RunContext): Promise<Finding> {
  const settings = { API_RATE_LIMITS: 'enterprise=100000000' };
  await using stage = await openBenchStage(lab, { setting, worker: false, settings });
  const [measured, historical] = [await owner(stage, 1), await owner(stage, 10)];
  const { secret: key } = await createApiClient(stage.api).createKey(toPublicId('org', historical.organizationId));
  const now = new Date();
  const until = new Date(now.getTime() - 3_600_000);
  const from = new Date(until.getTime() - recentDays * dayMs);
  const firstPosition = partitionsWhenOld * rowsPerMonth;
  await sql`select setval('event_positions', ${firstPosition + rowsPerMonth + 1}::bigint)`.execute(stage.db);
  await fillPeriod(stage.db, { ...historical, from, until, rows: rowsPerMonth, firstPosition });
  const pages = { webhookId: toPublicId('whk', historical.webhookIds[7] ?? ''), eventId: await newestEvent(stage) };
  const problems: string[] = [];
  const measure = async () => {
    await sql`vacuum analyze`.execute(stage.db);
    const statements = await statementCosts(stage.databaseUrl, measured.organizationId, sizes.turns);
    const costs = await pageCosts(stage, key, { ...pages, pages: sizes.turns });
    problems.push(...costs.problems);
    return { ...statements, ...costs.figures };
  };
  // The first pages and statements of new processes cost more than later ones, however old the ledger is.
  await measure();
  const young = (await partitionsOf(stage.db, 'deliveries')).length;
  const first = await measure();
  await addMonths(stage.db, now, partitionsWhenOld - young);
  const beginning = monthsBefore(now, partitionsWhenOld - young);
  const rows = (partitionsWhenOld - young) * rowsPerMonth;
  await fillPeriod(stage.db, { ...historical, from: beginning, until: monthsBefore(now, 1), rows, firstPosition: 1 });
  const partitions = (await partitionsOf(stage.db, 'deliveries')).length;
  const old = await measure();
  await dropMonths(stage.db, partitionedTables, young);
  const figures = compared(first, old, await measure());
  return { figures: { partitions_young: young, partitions_old: partitions, ...figures }, problems };
}

type Figures = Record<string, number>;

/** Each figure of the new ledger (the mean of both), of the old one, and how many times as much the old one takes. */
function compared(first: Figures, old: Figures, last: Figures): Figures {
  const figures = Object.entries(old).flatMap(([name, value]) => {
    const young = ((first[name] ?? Number.NaN) + (last[name] ?? Number.NaN)) / 2;
    return [
      [`${name}_young`, young],
      [`${name}_old`, value],
      [`${name.replace(/_us$/, '')}_ratio`, value / young],
    ];
  });
  return Object.fromEntries(figures);
}

async function owner({ db, lab }: BenchStage, webhooks: number) {
  const { organizationIds, webhookIds } = await subscribe(db, lab.receiverPort, { organizations: 1, webhooks });
  return { organizationId: organizationIds[0] ?? newUuid(), webhookIds };
}

async function newestEvent({ db }: BenchStage): Promise<string> {
  const { id } = await db.selectFrom('events').select('id').orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow();
  return toPublicId('evt', id);
}
