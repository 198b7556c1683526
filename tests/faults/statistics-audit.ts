import type { Uuid } from '@enterprise-api/shared/runtime';
import { until } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import type { FaultStage } from './stage.ts';

/** How the ledger names each group of the statistics. */
const groups = {
  webhook: { field: 'webhook_id', inLedger: sql`public_id('whk', d.webhook_id)` },
  event_type: { field: 'event_type', inLedger: sql`e.type` },
  error: { field: 'error', inLedger: sql`a.error` },
} as const;

interface Counts {
  attempts: number;
  succeeded: number;
  failed: number;
}

type Statistics = { complete_until: string; data: (Counts & Record<string, string>)[]; totals: Counts };

/** Compares each minute of the statistics, in every grouping, with the attempts in the ledger, except the tests. */
export async function statisticsProblems(
  stage: FaultStage,
  organizationId: Uuid,
  get: (path: string) => Promise<Statistics>,
): Promise<string[]> {
  const minute = (inMinutes: number) => new Date(Math.floor(Date.now() / 60_000 + inMinutes) * 60_000).toISOString();
  const path = `/v1/webhooks/statistics?granularity=minute&since=${minute(-900)}&until=${minute(2)}`;
  const wrong: string[] = [];
  for (const [group, { field, inLedger }] of Object.entries(groups)) {
    const { rows } = await sql<Counts & { start: string; group: string | null; last: Date }>`
      select rfc3339(date_trunc('minute', a.started_at)) as start, ${inLedger} as group, count(*)::int as attempts,
        count(*) filter (where a.error is null)::int as succeeded, count(a.error)::int as failed,
        max(greatest(a.started_at, a.recorded_at)) as last
      from all_attempts a join deliveries d on d.id = a.delivery_id join events e on e.id = d.event_id
      where e.organization_id = ${organizationId} and not d.test group by 1, 2`.execute(stage.db);
    const last = Math.max(...rows.map((row) => row.last.getTime()));
    const holds = ({ complete_until }: Statistics) => Date.parse(complete_until) > last;
    const read = () => get(`${path}&group_by=${group}`);
    const { data, totals } = await until('statistics of all attempts', read, {
      holds,
      withinMs: 60_000,
      everyMs: 500,
    });
    const due = new Set(rows.map((row) => line(row.start, row.group, row)));
    const counted = new Set(data.map((entry) => line(entry.start, entry[field], entry)));
    const different = [...due].find((each) => !counted.has(each)) ?? [...counted].find((each) => !due.has(each));
    if (different !== undefined) wrong.push(`${due.has(different) ? 'only the ledger' : 'no ledger'} has ${different}`);
    for (const [what, entries] of Object.entries({ ledger: rows, data })) {
      const [sum, total] = [line('', group, add(entries)), line('', group, totals)];
      if (sum !== total) wrong.push(`totals ${total}, ${what} ${sum}`);
    }
  }
  return wrong;
}

const line = (start = '', group: string | null = '', { attempts, succeeded, failed }: Counts) =>
  `${start} ${group}: ${attempts} = ${succeeded} + ${failed}`;

const add = (entries: readonly Counts[]): Counts =>
  entries.reduce(
    (sum, each) => ({
      attempts: sum.attempts + each.attempts,
      succeeded: sum.succeeded + each.succeeded,
      failed: sum.failed + each.failed,
    }),
    { attempts: 0, succeeded: 0, failed: 0 },
  );
