import {
  laterThanSince,
  maxStatisticsBuckets,
  maxStatisticsEntries,
  type StatisticsGroup,
  type WebhookStatistics,
  type WebhookStatisticsQuery,
} from '@enterprise-api/shared/contracts';
import { type Database, firstLagBucket } from '@enterprise-api/shared/ledger';
import { type Clock, fromPublicId, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { invalid, type Problem } from '../http/problem.ts';
import { emptyHistogram, percentilesOf, totalOf } from './percentiles.ts';
import { type AttemptCounts, listStatistics, type StatisticsRow } from './statistics-queries.ts';
import { countUnits, endOfMinute, spansOf } from './time-spans.ts';

const dayMs = 24 * 3_600_000;

export type WebhookStatisticsReader = ReturnType<typeof createWebhookStatistics>;

/** @param clock the database's clock, which also dates attempts */
export function createWebhookStatistics({ db, clock }: { db: Database; clock: Pick<Clock, 'now'> }) {
  return {
    /** Returns 400 if the period is empty or has too many buckets or entries. */
    read: async (organizationId: Uuid, query: WebhookStatisticsQuery): Promise<WebhookStatistics | Problem> => {
      const { granularity, group_by: groupBy, webhook_id } = query;
      // Read the clock before the statement, so that the statement sees everything recorded until this time.
      const completeUntil = clock.now();
      const until = query.until?.getTime() ?? endOfMinute(completeUntil);
      const since = query.since?.getTime() ?? until - dayMs;
      if (since >= until) return refused('until', laterThanSince);
      if (countUnits(granularity, since, until) > maxStatisticsBuckets) {
        return refused('granularity', `must divide the period into at most ${maxStatisticsBuckets} buckets`);
      }
      const rows = await listStatistics(db, organizationId, {
        spans: spansOf(since, until, granularity),
        granularity,
        webhookId: webhook_id === undefined ? undefined : (fromPublicId('whk', webhook_id) ?? undefined),
        groupBy,
      });
      const { data, totals } = addUp(rows, groupBy);
      if (data.length > maxStatisticsEntries) {
        return refused('group_by', `must produce at most ${maxStatisticsEntries} entries: choose a shorter period`);
      }
      return {
        object: 'webhook_statistics',
        since: new Date(since).toISOString(),
        until: new Date(until).toISOString(),
        granularity,
        complete_until: new Date(completeUntil).toISOString(),
        data,
        totals,
      };
    },
  };
}

function refused(path: string, message: string): Problem {
  return invalid([{ location: 'query', path, code: 'invalid_value', message }]);
}

/** Reuses one sum for all entries, because thousands of objects would take longer. */
function addUp(rows: readonly StatisticsRow[], groupBy: StatisticsGroup | undefined) {
  const data: WebhookStatistics['data'] = [];
  const [sum, total] = [emptySum(), emptySum()];
  for (const { group, counts } of rows) {
    const shownGroup = groupOf(group, groupBy);
    for (const [index, each] of counts.entries()) {
      add(sum, each);
      add(total, each);
      const [startMinutes] = each;
      if (counts[index + 1]?.[0] === startMinutes) continue;
      data.push({ start: new Date(startMinutes * 60_000).toISOString(), ...shownGroup, ...present(sum) });
      sum.histogram.fill(0);
      sum.succeeded = 0;
    }
  }
  // The sort is stable, so groups with the same start stay in order.
  data.sort((left, right) => Number(left.start > right.start) - Number(left.start < right.start));
  return { data, totals: present(total) };
}

const emptySum = () => ({ histogram: emptyHistogram(), succeeded: 0 });

type Sum = ReturnType<typeof emptySum>;

function add(sum: Sum, counts: AttemptCounts): void {
  const haveSucceeded = counts[1] === 1;
  const countsFrom = 1 + counts.length / 2;
  for (let index = 2; index < countsFrom; index++) {
    const bucket = counts[index] ?? 0;
    const count = counts[index - 2 + countsFrom] ?? 0;
    sum.histogram[bucket] = (sum.histogram[bucket] ?? 0) + count;
    if (haveSucceeded && bucket < firstLagBucket) sum.succeeded += count;
  }
}

type Entry = WebhookStatistics['data'][number];

function groupOf(group: string, groupBy: StatisticsGroup | undefined) {
  if (groupBy === 'webhook') return { webhook_id: toPublicId('whk', group) };
  if (groupBy === 'event_type') return { event_type: group as Exclude<Entry['event_type'], undefined> };
  return groupBy === 'error' ? { error: group === '' ? null : (group as Exclude<Entry['error'], undefined>) } : {};
}

function present({ histogram, succeeded }: Sum): WebhookStatistics['totals'] {
  const attempts = totalOf(histogram, 'durations');
  return {
    attempts,
    succeeded,
    failed: attempts - succeeded,
    duration_ms: percentilesOf(histogram, 'durations'),
    lag_ms: percentilesOf(histogram, 'lags'),
  };
}
