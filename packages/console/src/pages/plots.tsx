import { useMemo } from 'preact/hooks';
import { useQuery } from '../api/query.ts';
import type { AuditEntry, List, Statistics } from '../api/types.ts';
import { count, duration, percent } from '../format.ts';
import { m } from '../messages.ts';
import { setQuery, usePlace } from '../router.ts';
import { Select } from '../ui/form.tsx';
import { Load, Panel } from '../ui/page.tsx';
import { Plot } from '../ui/plot.tsx';
import { Facts } from '../ui/table.tsx';
import { useNow } from '../ui/text.tsx';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const ranges = {
  '1h': { lengthMs: hour, granularity: 'minute', stepMs: minute },
  '6h': { lengthMs: 6 * hour, granularity: 'minute', stepMs: minute },
  '24h': { lengthMs: day, granularity: 'hour', stepMs: hour },
  '7d': { lengthMs: 7 * day, granularity: 'hour', stepMs: hour },
  '30d': { lengthMs: 30 * day, granularity: 'day', stepMs: day },
} as const;

type Range = keyof typeof ranges;
const isRange = (name: string | null): name is Range => name !== null && Object.hasOwn(ranges, name);

/** The period that ends with the current minute, hour or day, and the request for its statistics. */
export function periodOf(range: Range, now: number) {
  const { lengthMs, granularity, stepMs } = ranges[range];
  const end = Math.ceil(now / stepMs) * stepMs;
  const since = new Date(end - lengthMs).toISOString();
  const until = new Date(end).toISOString();
  return { since, stepMs, path: `/v1/webhooks/statistics?since=${since}&until=${until}&granularity=${granularity}` };
}

/** Attempts by outcome, and how long they took, with a line where a webhook was changed. */
export function Plots({ webhookId }: { webhookId?: string }) {
  const given = usePlace().query.get('range');
  const range = isRange(given) ? given : '24h';
  const { since, stepMs, path: ofAll } = periodOf(range, useNow(minute));
  const path = webhookId ? `${ofAll}&webhook_id=${webhookId}` : ofAll;
  const statistics = useQuery<Statistics>(path, minute);
  const changes = useQuery<List<AuditEntry>>(
    `/audit?since=${since}&limit=100${changing}${webhookId ? `&object_id=${webhookId}` : ''}`,
  );
  return (
    <Panel
      title={m.overview.attempts}
      request={path}
      cli={`webhooks statistics --since ${range} --granularity ${ranges[range].granularity}${webhookId ? ` --webhook ${webhookId}` : ''}`}
      actions={
        <Select
          label={m.overview.range}
          name="range"
          value={range}
          options={Object.keys(ranges).map((name) => [name, name] as const)}
          onChange={(name) => setQuery({ range: name })}
        />
      }
    >
      <Load query={statistics}>
        {(data) => <Drawn statistics={data} stepMs={stepMs} changes={changes.data?.data ?? none} />}
      </Load>
    </Panel>
  );
}

/** Entries about other things, such as keys, leave room for the changes of webhooks. */
const changing = ['created', 'updated', 'secret_rotated', 'deleted', 'disabled', 'recovered', 'paused', 'resumed']
  .map((change) => `&action=webhook.${change}`)
  .join('');

const none: AuditEntry[] = [];

function Drawn({ statistics, stepMs, changes }: { statistics: Statistics; stepMs: number; changes: AuditEntry[] }) {
  const { times, failed, succeeded, theirs, ours } = useMemo(() => columnsOf(statistics, stepMs), [statistics, stepMs]);
  const marks = useMemo(() => changes.map(({ created_at }) => new Date(created_at).getTime() / 1000), [changes]);
  const outcomes = useMemo(
    () => [
      { name: m.overview.failed, color: 'bad-bar', values: failed },
      { name: m.overview.delivered, color: 'good-bar', values: succeeded },
    ],
    [failed, succeeded],
  );
  const latency = useMemo(
    () => [
      { name: m.overview.theirs, color: 'accent', values: theirs },
      { name: m.overview.ours, color: 'warn', values: ours },
    ],
    [theirs, ours],
  );
  const { totals } = statistics;
  if (totals.attempts === 0) return <p class="empty">{m.overview.none}</p>;
  return (
    <>
      <Facts
        rows={[
          [m.overview.attempts, count(totals.attempts)],
          [m.overview.delivered, percent(totals.succeeded, totals.attempts)],
          [m.overview.medianTheirs, duration(totals.duration_ms.p50 ?? 0)],
          [m.overview.medianOurs, totals.lag_ms.p50 === null ? '–' : duration(totals.lag_ms.p50)],
        ]}
      />
      <div class="plots">
        <Plot label={m.overview.attempts} times={times} series={outcomes} kind="bars" unit="" marks={marks} />
        <Plot label={m.overview.latency} times={times} series={latency} kind="lines" unit=" ms" marks={marks} />
      </div>
      {marks.length > 0 && <p class="hint">{m.overview.marks}</p>}
    </>
  );
}

/** Every step of the period, also those without an attempt. */
function columnsOf({ since, until, data }: Statistics, stepMs: number) {
  const entries = new Map(data.map((entry) => [new Date(entry.start).getTime(), entry]));
  const first = Math.floor(new Date(since).getTime() / stepMs) * stepMs;
  const steps = Math.max(1, Math.ceil((new Date(until).getTime() - first) / stepMs));
  const starts = Array.from({ length: steps }, (_, index) => first + index * stepMs);
  return {
    times: starts.map((start) => start / 1000),
    failed: starts.map((start) => entries.get(start)?.failed ?? 0),
    succeeded: starts.map((start) => entries.get(start)?.succeeded ?? 0),
    theirs: starts.map((start) => entries.get(start)?.duration_ms.p95 ?? null),
    ours: starts.map((start) => entries.get(start)?.lag_ms.p95 ?? null),
  };
}
