import { setTimeout as pause } from 'node:timers/promises';
import { auditLedger, until } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import type { Finding } from './finding.ts';
import { emit } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** R10: receivers answer with Retry-After or 410, or fail for days. Rows are set back in time instead of waiting. */
export async function checkReceiverRules(stores: Stores): Promise<Finding> {
  await using stage = await openFaultStage(stores, { WEBHOOK_RETRY_SCHEDULE: '1s,1s', WEBHOOK_RETRY_JITTER: '0' });
  const api = await stage.startApi();
  const worker = await stage.startWorker();
  const broken = [
    ...(await askForAnHour(stage, api.internalUrl)),
    ...(await askForDays(stage, api.internalUrl)),
    ...(await failForDays(stage, api.internalUrl)),
    ...(await sayGone(stage, api.internalUrl)),
  ];
  await worker.stop();
  const { violations } = await auditLedger(stage.db);
  if (violations > 0) broken.push(`${violations} rows break the invariant`);
  return { lost: 0, duplicates: 0, figures: { rules: 'Retry-After 1 h, 3 days; failing for 5 days; 410' }, broken };
}

async function askForAnHour(stage: FaultStage, url: string): Promise<string[]> {
  const row = await firstOutcome(stage, url, { status: 503, headers: { 'retry-after': '3600' } });
  const wrong = Math.abs(row.due_in - 3_600) > 5 || Math.abs((row.open_for ?? 0) - 3_600) > 5;
  return wrong ? [`Retry-After of an hour: due in ${row.due_in} s, webhook held for ${row.open_for} s`] : [];
}

async function askForDays(stage: FaultStage, url: string): Promise<string[]> {
  const row = await firstOutcome(stage, url, { status: 429, headers: { 'retry-after': '259200' } });
  return Math.abs(row.due_in - 86_400) > 5 ? [`Retry-After of three days: due in ${row.due_in} s`] : [];
}

async function failForDays(stage: FaultStage, url: string): Promise<string[]> {
  const { organizationId } = await stage.subscribe(['/failing']);
  stage.requests.respond(() => ({ status: 400 }));
  await emit(url, organizationId, 1);
  await untilState(stage, organizationId, 'a first failure', ({ failed }) => failed >= 1);
  await sql`update webhook_health h set first_failure_at = now() - interval '5 days 1 second', failed_attempts = 19
    from webhooks w where w.id = h.webhook_id and w.organization_id = ${organizationId}`.execute(stage.db);
  const { reason } = await untilState(stage, organizationId, 'nothing pending', ({ open }) => open === 0);
  return reason === 'failing' ? [] : [`failing for five days: disabled_reason ${reason}`];
}

async function sayGone(stage: FaultStage, url: string): Promise<string[]> {
  const { organizationId } = await stage.subscribe(['/gone']);
  stage.requests.respond(async () => {
    await pause(300);
    return { status: 410 };
  });
  await emit(url, organizationId, 60);
  const { reason } = await untilState(stage, organizationId, 'nothing pending', ({ open }) => open === 0);
  return reason === 'gone' ? [] : [`410: disabled_reason ${reason}`];
}

async function firstOutcome(
  stage: FaultStage,
  url: string,
  answer: { status: number; headers: Record<string, string> },
): Promise<{ due_in: number; open_for: number | null }> {
  const { organizationId } = await stage.subscribe(['/asks']);
  stage.requests.respond(() => answer);
  await emit(url, organizationId, 1);
  const read = async () => {
    const { rows } = await sql<{ due_in: number; open_for: number | null }>`
      select extract(epoch from p.next_attempt_at - a.started_at)::float8 as due_in,
        extract(epoch from h.open_until - a.started_at)::float8 as open_for
      from pending_deliveries p join attempts a on a.delivery_id = p.delivery_id
      left join webhook_health h on h.webhook_id = p.webhook_id
      where p.organization_id = ${organizationId}`.execute(stage.db);
    const [row] = rows;
    if (!row) throw new Error('There is no outcome.');
    return row;
  };
  return await until('an outcome', read, { withinMs: 10_000 });
}

function untilState(stage: FaultStage, organizationId: string, what: string, holds: (state: State) => boolean) {
  return until(what, () => stateOf(stage, organizationId), { holds });
}

type State = Awaited<ReturnType<typeof stateOf>>;

async function stateOf(stage: FaultStage, organizationId: string) {
  const { rows } = await sql<{ open: number; failed: number; reason: string | null }>`
    select (select count(*) from deliveries where organization_id = ${organizationId} and status = 'pending')
        + (select count(*) from outbox where organization_id = ${organizationId}) as open,
      coalesce((select failed_attempts from webhook_health where webhook_id = w.id), 0) as failed,
      w.disabled_reason as reason
    from webhooks w where w.organization_id = ${organizationId}`.execute(stage.db);
  const [row] = rows;
  if (!row) throw new Error('The webhook has vanished.');
  return row;
}
