import type {
  DatabaseLocks,
  DatabaseSession,
  DatabaseSizes,
  DatabaseStatements,
} from '@enterprise-api/shared/contracts';
import {
  type Database,
  type DatabaseTransaction,
  isStatementTimeout,
  markSavepoint,
  returnToSavepoint,
} from '@enterprise-api/shared/ledger';
import { type Clock, toPublicId } from '@enterprise-api/shared/runtime';
import { type Problem, problem } from '../http/problem.ts';
import {
  findStatementStatistics,
  readConnections,
  readDatabaseBytes,
  readLeasedOften,
  readLockSessions,
  readMaxConnections,
  readOutboxByOrganization,
  readOverdueByWebhook,
  readParkedEvents,
  readRunningSessions,
  readSlowStatements,
  readTables,
} from './database-queries.ts';
import { readInTime } from './stats.ts';
import { readSnapshot } from './stats-queries.ts';
import { withoutLiterals } from './without-literals.ts';

export type DatabaseReports = ReturnType<typeof createDatabaseReports>;

/** Answers an operator's questions about the database, so that nobody needs `psql` for them. */
export function createDatabaseReports({ db, clock }: { db: Database; clock: Clock }) {
  const read = <Report>(report: (trx: DatabaseTransaction, at: string) => Promise<Report>) =>
    readSnapshot(db, (trx) => report(trx, new Date(clock.now()).toISOString())).catch((error: unknown): Problem => {
      if (isStatementTimeout(error)) return tooSlow;
      throw error;
    });
  return {
    locks: () => read(readLocks),
    statements: () => read(readStatements),
    sizes: () => read((trx, at) => readSizes(trx, at, clock)),
  };
}

const tooSlow = problem('service_unavailable', {
  message: 'The database did not answer within 2 seconds. A lock or high load may delay it.',
});

async function readLocks(trx: DatabaseTransaction, at: string): Promise<DatabaseLocks> {
  return { object: 'database_locks', at, sessions: (await readLockSessions(trx)).map(presentSession) };
}

async function readStatements(trx: DatabaseTransaction, at: string): Promise<DatabaseStatements> {
  return {
    object: 'database_statements',
    at,
    max_connections: await readMaxConnections(trx),
    connections: await readConnections(trx),
    running: (await readRunningSessions(trx)).map(presentSession),
    ...(await readSlowest(trx)),
  };
}

/** The server refuses to read the statistics unless it loaded the extension at its start. */
async function readSlowest(trx: DatabaseTransaction): Promise<Pick<DatabaseStatements, 'slowest' | 'slowest_missing'>> {
  const schema = await findStatementStatistics(trx);
  if (schema === null) return without('The database has no extension pg_stat_statements.');
  await markSavepoint(trx);
  try {
    const rows = await readSlowStatements(trx, schema);
    const slowest = rows.map((row) => ({ ...row, statement: withoutLiterals(row.statement) }));
    return { slowest, slowest_missing: null };
  } catch (error) {
    if (isStatementTimeout(error)) throw error;
    await returnToSavepoint(trx);
    return without('The server does not provide pg_stat_statements: name it in shared_preload_libraries, and restart.');
  }
}

const without = (why: string) => ({ slowest: null, slowest_missing: why });

async function readSizes(trx: DatabaseTransaction, at: string, clock: Clock): Promise<DatabaseSizes> {
  const { parts } = await readInTime(trx, clock, {
    outbox: async () =>
      (await readOutboxByOrganization(trx)).map(({ organization_id, events, oldest_at }) => ({
        organization_id: toPublicId('org', organization_id),
        events,
        oldest_at: oldest_at.toISOString(),
      })),
    overdue: async () =>
      (await readOverdueByWebhook(trx)).map(({ webhook_id, organization_id, deliveries, due_since }) => ({
        webhook_id: toPublicId('whk', webhook_id),
        organization_id: toPublicId('org', organization_id),
        deliveries,
        due_since: due_since.toISOString(),
      })),
    leased_often: async () =>
      (await readLeasedOften(trx)).map(({ delivery_id, leases }) => ({
        delivery_id: toPublicId('dlv', delivery_id),
        leases,
      })),
    parked_events: async () =>
      (await readParkedEvents(trx)).map(({ event_id, organization_id, reason, failures, retry_at }) => ({
        event_id: toPublicId('evt', event_id),
        organization_id: toPublicId('org', organization_id),
        reason,
        failures,
        retry_at: retry_at.toISOString(),
      })),
    tables: async () =>
      (await readTables(trx)).map(({ vacuumed_at, analyzed_at, ...table }) => ({
        ...table,
        vacuumed_at: vacuumed_at?.toISOString() ?? null,
        analyzed_at: analyzed_at?.toISOString() ?? null,
      })),
  });
  return { object: 'database_sizes', at, bytes: await readDatabaseBytes(trx), ...parts };
}

function presentSession({ statement, ...session }: DatabaseSession): DatabaseSession {
  return { ...session, statement: statement === null ? null : withoutLiterals(statement) };
}
