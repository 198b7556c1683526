import type { Database } from '@enterprise-api/shared/ledger';
import { auditLedger, type ServiceProcess, takeNodeWarnings, until } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import type { SentRequest } from './request-log.ts';
import type { FaultStage } from './stage.ts';

/** The result of a run. */
export interface Finding {
  /** Deliveries that should have succeeded and did not. */
  lost: number;
  /** Requests beyond the first of a delivery. */
  duplicates: number;
  figures: Record<string, number | string>;
  /** The promises that were not kept, in words. */
  broken: string[];
}

/**
 * Waits until nothing is left to do: no event in the outbox, no pending delivery, and the expected number of rows.
 */
export async function untilSettled(stage: FaultStage, deliveries: number, withinMs: number): Promise<void> {
  const count = async () => {
    const { rows } = await sql<{ open: number; all: number }>`
      select (select count(*) from outbox) + (select count(*) from deliveries where status = 'pending') as open,
        (select count(*) from deliveries) as all`.execute(stage.db);
    return rows[0] ?? { open: Number.NaN, all: Number.NaN };
  };
  const holds = ({ open, all }: { open: number; all: number }) => open === 0 && all >= deliveries;
  await until(`${deliveries} deliveries and nothing pending`, count, { holds, withinMs, everyMs: 50 });
}

/**
 * Audits the ledger after a run in which every delivery had to succeed.
 *
 * @param checks further promises: words for one that is broken, and whether it holds
 */
export async function conclude(
  stage: FaultStage,
  deliveries: number,
  figures: Finding['figures'],
  checks: Record<string, boolean>,
): Promise<Finding> {
  const { statuses, ...audit } = await auditLedger(stage.db);
  const received = new Set(stage.requests.sent.map((request) => request.deliveryId));
  const succeeded = statuses.succeeded ?? 0;
  const lost = deliveries - Math.min(succeeded, received.size);
  const unaccounted = await attemptsWithoutRequest(stage);
  const warnings = takeNodeWarnings();
  const all: Record<string, boolean> = {
    [`${lost} lost; ${JSON.stringify(statuses)}`]: lost === 0,
    [`${succeeded} deliveries instead of ${deliveries}`]: succeeded === deliveries,
    [`${audit.violations} rows break the invariant`]: audit.violations === 0,
    [`${audit.outbox} events left in the outbox`]: audit.outbox === 0,
    [`${audit.missingPairs} pairs of event and webhook without a delivery`]: audit.missingPairs === 0,
    [`${audit.doublePairs} pairs with two deliveries`]: audit.doublePairs === 0,
    [`${stage.requests.changedBodies} requests with another body than the first`]: stage.requests.changedBodies === 0,
    [`${unaccounted} answers recorded that the receiver did not give`]: unaccounted === 0,
    [`warnings of Node.js: ${warnings.join('; ')}`]: warnings.length === 0,
    ...checks,
  };
  return {
    lost,
    duplicates: stage.requests.duplicates(),
    figures,
    broken: Object.entries(all).flatMap(([what, holds]) => (holds ? [] : [what])),
  };
}

/** Asks processes to end. @returns the exits other than 0, each with the reason that the process logged */
export async function stopAll(services: readonly ServiceProcess[]): Promise<string[]> {
  const exits = await Promise.all(services.map((service) => service.stop()));
  return exits.flatMap(({ code, signal }, index) => {
    if (code === 0) return [];
    const service = services[index];
    const reason = service?.logs().findLast(({ level }) => level === 'fatal')?.err as { stack?: string } | undefined;
    return [`${service?.name} ended with ${code ?? signal}: ${reason?.stack ?? 'no reason logged'}`];
  });
}

/** Requests that have no attempt row: their worker was killed before it could write one. */
export async function requestsWithoutRow(stage: FaultStage): Promise<SentRequest[]> {
  const rows = await attemptsByDelivery(stage.db);
  const byDelivery = Map.groupBy(stage.requests.sent, (request) => request.deliveryId);
  return [...byDelivery].flatMap(([id, requests]) => {
    const left = [...requests];
    for (const { started_at } of rows.get(id) ?? []) {
      // Both times are of this machine's clock. An attempt begins before its request has arrived.
      const match = left.findIndex((request) => request.at >= started_at.getTime() - 5);
      if (match !== -1) left.splice(match, 1);
    }
    return left;
  });
}

async function attemptsByDelivery(db: Database) {
  const rows = await db
    .selectFrom('all_attempts')
    .select(['delivery_id', 'started_at'])
    .orderBy('started_at')
    .execute();
  return Map.groupBy(rows, (row) => row.delivery_id);
}

/** Attempts with a status, beyond the requests of their delivery. */
async function attemptsWithoutRequest(stage: FaultStage): Promise<number> {
  const rows = await stage.db
    .selectFrom('all_attempts')
    .select(({ fn }) => ['delivery_id', fn.countAll<number>().as('count')])
    .where('status_code', 'is not', null)
    .groupBy('delivery_id')
    .execute();
  const requests = new Map<string, number>();
  for (const { deliveryId } of stage.requests.sent) requests.set(deliveryId, (requests.get(deliveryId) ?? 0) + 1);
  return rows.reduce((sum, row) => sum + Math.max(0, row.count - (requests.get(row.delivery_id) ?? 0)), 0);
}
