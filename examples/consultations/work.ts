import type { EmitEventInput } from '@enterprise-api/shared/contracts';
import type { EventProducer } from '@enterprise-api/shared/events';
import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** A consultation is work with one item, a batch has many. A real service would not let its customers choose failure. */
export interface Work {
  id: string;
  organization_id: string;
  kind: 'consultation' | 'batch';
  items: { question: string; fail: boolean }[];
  status: 'running' | 'completed' | 'failed' | 'partial_failure' | 'canceled';
  request_id: string | null;
  created_at: Date;
  ended_at: Date | null;
}

/**
 * Ends one piece of work whose time has come, also if an earlier process began it and was killed. The end and its event are
 * one transaction: whenever this process is killed, there are both or neither.
 *
 * @returns whether there was one
 */
export async function endWork(db: Database, producer: EventProducer): Promise<boolean> {
  const emission = await db.transaction().execute(async (trx) => {
    const due = await sql<Work>`
      select * from consultations.work where status = 'running' and ends_at <= now()
      order by ends_at limit 1 for update skip locked`.execute(trx);
    const [work] = due.rows;
    if (work === undefined) return;
    const { status } = outcomeOf(work);
    await sql`update consultations.work set status = ${status}, ended_at = now() where id = ${work.id}`.execute(trx);
    return producer.emit(trx, eventOf(work), { requestId: work.request_id ?? undefined });
  });
  await emission?.notify();
  return emission !== undefined;
}

/** Here the real work would be. */
export function outcomeOf({ items }: Work) {
  const failed = items.filter(({ fail }) => fail).length;
  const status = failed === 0 ? 'completed' : failed === items.length ? 'failed' : 'partial_failure';
  return { status, total: items.length, completed: items.length - failed, failed } as const;
}

function eventOf(work: Work): EmitEventInput {
  const { organization_id, id: batch_id } = work;
  const outcome = outcomeOf(work);
  if (work.kind === 'batch')
    return { organization_id, type: `batch.${outcome.status}`, data: { batch_id, ...outcome } };
  const status = outcome.failed === 0 ? 'completed' : 'failed';
  return { organization_id, type: `consultation.${status}`, data: { consultation_id: work.id, status } };
}
