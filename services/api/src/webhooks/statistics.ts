import {
  laterThanSince,
  maxStatisticsBuckets,
  maxStatisticsEntries,
  type StatisticsGroup,
  type WebhookStatistics,
  type WebhookStatisticsQuery,
} from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { type Clock, fromPublicId, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { invalid, type Problem } from '../http/problem.ts';
import { addCounts, emptyHistogram, percentilesOf, totalOf } from './percentiles.ts';
import { listStatistics, type StatisticsRow } from './statistics-queries.ts';
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
  for (const { group, histograms } of rows) {
    const shownGroup = groupOf(group, groupBy);
    for (const [index, [startSeconds, haveSucceeded, buckets, durations, lags]] of histograms.entries()) {
      for (const each of [sum, total]) {
        addCounts(each.durations, buckets, durations);
        addCounts(each.lags, buckets, lags);
        if (haveSucceeded) each.succeeded += totalOf(durations);
      }
      if (histograms[index + 1]?.[0] === startSeconds) continue;
      data.push({ start: new Date(startSeconds * 1_000).toISOString(), ...shownGroup, ...present(sum) });
      sum.durations.fill(0);
      sum.lags.fill(0);
      sum.succeeded = 0;
    }
  }
  // The sort is stable, so groups with the same start stay in order.
  data.sort((left, right) => Number(left.start > right.start) - Number(left.start < right.start));
  return { data, totals: present(total) };
}

const emptySum = () => ({ durations: emptyHistogram(), lags: emptyHistogram(), succeeded: 0 });

type Entry = WebhookStatistics['data'][number];

function groupOf(group: string, groupBy: StatisticsGroup | undefined) {
  if (groupBy === 'webhook') return { webhook_id: toPublicId('whk', group) };
  if (groupBy === 'event_type') return { event_type: group as Exclude<Entry['event_type'], undefined> };
  return groupBy === 'error' ? { error: group === '' ? null : (group as Exclude<Entry['error'], undefined>) } : {};
}

function present({ durations, lags, succeeded }: ReturnType<typeof emptySum>): WebhookStatistics['totals'] {
  const attempts = totalOf(durations);
  return {
    attempts,
    succeeded,
    failed: attempts - succeeded,
    duration_ms: percentilesOf(durations),
    lag_ms: percentilesOf(lags),
  };
}
