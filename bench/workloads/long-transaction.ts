import { setTimeout as pause } from 'node:timers/promises';
import { createDatabase } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';
import { ledgerProblems } from '../measure/audit.ts';
import { difference, total } from '../measure/cpu.ts';
import { deliver, deliveryFigures } from '../measure/deliver.ts';
import { makeDeadRows } from '../stage/dead-rows.ts';
import { emission } from '../stage/emission.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

const connections = 50;
const idleMs = 15_000;
/** Passes begin 30 s back: by then they begin behind the rows that were deleted. */
const settleMs = 30_000;
/** The transaction would have been open for so long. */
const openForMs = 10 * 60_000;

/**
 * W1T: W1, and what API, worker and PostgreSQL take while nothing happens, before another session's transaction is opened
 * (as a dump opens one) and with everything that deliveries of ten minutes leave beside it, while it is open.
 */
export async function longTransaction({ lab, setting, sizes }: RunContext): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting });
  const { organizationIds, webhookIds } = await subscribe(stage.db, lab.receiverPort, {
    organizations: 1,
    webhooks: 1,
  });
  const { closed } = emission(stage, organizationIds);
  const send = (events: number) => deliver(stage, closed(events, connections), { webhooksPerEvent: 1 });
  const problems = [...(await send(sizes.warmUp)).problems];
  const measure = async () => {
    const idle_us_per_s = await idleCost(stage);
    const delivered = await send(sizes.events);
    problems.push(...delivered.problems);
    return { ...deliveryFigures(delivered), idle_us_per_s };
  };
  const before: Record<string, number> = await measure();
  await using reader = await openReader(stage.databaseUrl);
  problems.push(...(await send(sizes.besideTransaction)).problems);
  const owner = { organizationId: organizationIds[0] ?? '', webhookId: webhookIds[0] ?? '' };
  await makeDeadRows(stage.db, { ...owner, rows: sizes.deadRows, overMs: openForMs });
  await pause(settleMs);
  const atEnd: Record<string, number> = await measure();
  await reader.end();
  problems.push(...(await ledgerProblems(stage.db, sizes.warmUp + 2 * sizes.events + sizes.besideTransaction)));
  const figures = Object.entries(atEnd).flatMap(([name, value]) => [
    [`${name}_before`, before[name] ?? Number.NaN],
    [`${name}_at_end`, value],
    [`${name.replace(/_us(_per_s)?$/, '')}_ratio`, value / (before[name] ?? Number.NaN)],
  ]);
  return { figures: Object.fromEntries(figures), problems };
}

/** Microseconds of CPU per second of all processes while nothing happens: mostly what relay and dispatch look for. */
async function idleCost(stage: BenchStage): Promise<number> {
  const before = stage.cpu();
  await pause(idleMs);
  return total(difference(before, stage.cpu())) / (idleMs / 1_000);
}

/** A transaction that keeps what it could see from being vacuumed. */
async function openReader(url: string) {
  const silentAfterMs = 60 * 60_000;
  const db = createDatabase({ url, applicationName: 'bench-reader', poolSize: 1, silentAfterMs });
  const trx = await db.startTransaction().setIsolationLevel('repeatable read').execute();
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
  await sql`select count(*) from outbox`.execute(trx);
  const end = async () => {
    if (!trx.isCommitted) await trx.commit().execute();
  };
  return {
    end,
    [Symbol.asyncDispose]: async () => {
      await end();
      await db.destroy();
    },
  };
}
