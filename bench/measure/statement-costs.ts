import { readFileSync } from 'node:fs';
import { createDatabase, planProbes } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import { leaseDueDeliveries } from '../../services/webhook-worker/src/dispatch/queries.ts';
import { fanOutEvents } from '../../services/webhook-worker/src/fan-out/queries.ts';
import { findEvents } from '../../services/webhook-worker/src/leases/event-contents.ts';
import type { LeaseRow } from '../../services/webhook-worker/src/leases/lease.ts';
import { releaseLeases } from '../../services/webhook-worker/src/leases/lease-loader.ts';
import { recordOutcomes } from '../../services/webhook-worker/src/outcomes/record-outcomes.ts';
import { emitEvents, outcomeOf, plenty } from '../../services/webhook-worker/src/testing/ledger.ts';
import { summarize } from './figures.ts';

const eventsPerTurn = 20;
const leaseMs = 45_000;
const maxAttempts = 3;
/** The first executions of a new connection parse, plan and fill caches. */
const turnsBefore = 5;
const page = { cursor: nilUuid, visit: 1_000, rows: 1_000, from: null };

/**
 * The median CPU time of the server's process for one execution of each statement of the worker, in microseconds, on a new
 * connection as the worker opens them. Every turn sends events of one organization with one webhook through all statements.
 */
export async function statementCosts(
  databaseUrl: string,
  organizationId: string,
  turns: number,
): Promise<Record<string, number>> {
  const open = (applicationName: string, serverSettings = {}) =>
    createDatabase({ url: databaseUrl, applicationName, poolSize: 1, serverSettings });
  await using emitter = destroyed(open('bench-emitter'));
  await using worker = destroyed(open('bench-statements', planProbes));
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(worker.db);
  const costs = new Map<string, number[]>();
  const measured = async <T>(name: string, execute: () => Promise<T>): Promise<T> => {
    const before = microsecondsOf(rows[0]?.pid);
    const result = await execute();
    costs.set(name, [...(costs.get(name) ?? []), microsecondsOf(rows[0]?.pid) - before]);
    return result;
  };
  for (let turn = 0; turn < turnsBefore + turns; turn++) {
    if (turn === turnsBefore) costs.clear();
    const ids = await emitEvents(emitter.db, organizationId, eventsPerTurn);
    const fanOut = () => fanOutEvents(worker.db, ids, plenty, { leaseMs, maxAttempts });
    const { leases } = await measured('fan_out', fanOut);
    const [one, two, ...rest] = leases as readonly LeaseRow[] as [LeaseRow, LeaseRow, ...LeaseRow[]];
    await measured('bodies', () => findEvents(worker.db, ids));
    await measured('outcome', () => recordOutcomes(worker.db, [delivered(one)]));
    await measured('release', () => releaseLeases(worker.db, [two.id], [two.lease_token]));
    const again = await measured('dispatch', () => leaseDueDeliveries(worker.db, page, plenty, leaseMs));
    await measured('outcomes', () => recordOutcomes(worker.db, [...rest, ...again.leases].map(delivered)));
  }
  return Object.fromEntries(
    [...costs].map(([name, values]) => [`${name}_us`, summarize(values)?.median ?? Number.NaN]),
  );
}

const delivered = (lease: LeaseRow) => outcomeOf(lease, { result: 'delivered' });

/** The time that a process has run, which the scheduler counts in nanoseconds. */
function microsecondsOf(pid: number | undefined): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000;
}

function destroyed(db: ReturnType<typeof createDatabase>) {
  return { db, [Symbol.asyncDispose]: () => db.destroy() };
}
