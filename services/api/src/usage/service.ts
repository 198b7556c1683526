import {
  type ApiPlan,
  laterThanSince,
  maxUsageBuckets,
  maxUsageEntries,
  type Usage,
  type UsageGranularity,
  type UsageGroup,
  type UsageQuery,
} from '@enterprise-api/shared/contracts';
import { type Clock, toPublicId } from '@enterprise-api/shared/runtime';
import type { Principal } from '../auth/judge.ts';
import { describeRateLimit } from '../auth/rate-limit.ts';
import { invalid, type Problem } from '../http/problem.ts';
import type { HistoryReads } from '../replica/history-reads.ts';
import { hourMs } from './hours.ts';
import { listUsage, type UsageRow } from './queries.ts';

export type UsageService = ReturnType<typeof createUsageService>;

export interface UsageServiceOptions {
  history: HistoryReads;
  clock: Pick<Clock, 'now'>;
  rateLimits: Readonly<Record<ApiPlan, number>>;
}

export function createUsageService({ history, clock, rateLimits }: UsageServiceOptions) {
  return {
    /** Returns 400 if the period is empty or has too many buckets or entries. */
    read: async ({ key: { organization } }: Principal, query: UsageQuery): Promise<Usage | Problem> => {
      const { granularity, group_by: groupBy } = query;
      const month = monthOf(clock.now());
      const { since = month.since, until = month.until } = query;
      if (since >= until) return refused('until', laterThanSince);
      if (countBuckets(granularity, since, until) > maxUsageBuckets) {
        return refused('granularity', `must divide the period into at most ${maxUsageBuckets} buckets`);
      }
      const question = { since, until, granularity, groupBy, limit: maxUsageEntries + 1 };
      const rows = await history((from) => listUsage(from, organization.id, question));
      if (rows.length > maxUsageEntries) {
        return refused('group_by', `must produce at most ${maxUsageEntries} entries: choose a shorter period`);
      }
      return {
        object: 'usage',
        organization_id: toPublicId('org', organization.id),
        plan: organization.plan,
        rate_limit: describeRateLimit(rateLimits, organization.plan),
        since: since.toISOString(),
        until: until.toISOString(),
        granularity,
        data: rows.map((row) => present(row, groupBy)),
        totals: totalsOf(rows),
      };
    },
  };
}

function refused(path: string, message: string): Problem {
  return invalid([{ location: 'query', path, code: 'invalid_value', message }]);
}

function present({ start, key_id, area, ...counts }: UsageRow, groupBy: UsageGroup | undefined): Usage['data'][number] {
  return {
    start: start.toISOString(),
    ...(groupBy === 'key' && { key_id: key_id === null ? null : toPublicId('key', key_id) }),
    ...(groupBy === 'area' && area !== null && { area }),
    ...counts,
  };
}

function totalsOf(rows: readonly UsageRow[]): Usage['totals'] {
  const totals = { requests: 0, refused: 0, bytes_in: 0, bytes_out: 0, events: 0, deliveries: 0, attempts: 0 };
  for (const row of rows) for (const name of countNames) totals[name] += row[name];
  return totals;
}

const countNames = ['requests', 'refused', 'bytes_in', 'bytes_out', 'events', 'deliveries', 'attempts'] as const;

/** Returns the calendar month in UTC; `until` is exclusive. */
function monthOf(unixMs: number): { since: Date; until: Date } {
  const now = new Date(unixMs);
  const first = (month: number) => new Date(Date.UTC(now.getUTCFullYear(), month, 1));
  return { since: first(now.getUTCMonth()), until: first(now.getUTCMonth() + 1) };
}

/** Counts the hours, days or months (UTC) that a period touches. `since` must be before `until`. */
function countBuckets(granularity: UsageGranularity, since: Date, until: Date): number {
  return bucketNumber(granularity, until.getTime() - 1) - bucketNumber(granularity, since.getTime()) + 1;
}

function bucketNumber(granularity: UsageGranularity, unixMs: number): number {
  if (granularity === 'hour') return Math.floor(unixMs / hourMs);
  if (granularity === 'day') return Math.floor(unixMs / (24 * hourMs));
  const date = new Date(unixMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
