import { useQuery } from '../api/query.ts';
import type { Usage } from '../api/types.ts';
import { bytes, count } from '../format.ts';
import { m } from '../messages.ts';
import { setQuery, usePlace } from '../router.ts';
import { Select } from '../ui/form.tsx';
import { Load, Page, Panel } from '../ui/page.tsx';
import { type Column, Facts, Table } from '../ui/table.tsx';

type Entry = Usage['data'][number];

const splits = { '': m.usage.day, key: m.usage.key, area: m.usage.area };

export function UsagePage() {
  const { query } = usePlace();
  const month = /^\d{4}-(0[1-9]|1[0-2])$/.exec(query.get('month') ?? '')?.[0] ?? new Date().toISOString().slice(0, 7);
  const split =
    query.get('by') === 'key' || query.get('by') === 'area' ? (query.get('by') as 'key' | 'area') : undefined;
  const { since, until } = boundsOf(month);
  const granularity = split ? `month&group_by=${split}` : 'day';
  const path = `/v1/usage?since=${since}&until=${until}&granularity=${granularity}`;
  const usage = useQuery<Usage>(path);
  return (
    <Page title={m.usage.title}>
      <Panel
        bare
        title={m.usage.title}
        request={path}
        cli={`usage --since ${since} --until ${until} --granularity ${split ? `month --by ${split}` : 'day'}`}
      >
        <div class="filters">
          <Select
            label={m.usage.month}
            name="month"
            value={month}
            options={lastMonths().map((name) => [name, name] as const)}
            onChange={(value) => setQuery({ month: value })}
          />
          <Select
            label={m.usage.by}
            name="by"
            value={split ?? ''}
            options={Object.entries(splits)}
            onChange={(value) => setQuery({ by: value })}
          />
        </div>
        <Load query={usage}>{(data) => <Numbers usage={data} split={split} />}</Load>
      </Panel>
    </Page>
  );
}

function Numbers({ usage, split }: { usage: Usage; split: 'key' | 'area' | undefined }) {
  const { totals, plan, rate_limit, data } = usage;
  const nameOf = (entry: Entry) =>
    split === undefined ? entry.start.slice(0, 10) : ((split === 'key' ? entry.key_id : entry.area) ?? '–');
  const number = (name: string, read: (entry: Entry) => string): Column<Entry> => ({ name, number: true, cell: read });
  return (
    <>
      <Facts
        rows={[
          [m.usage.plan, `${plan}: ${m.usage.limit(count(rate_limit.limit), rate_limit.window_seconds)}`],
          [m.usage.requests, count(totals.requests)],
          [m.usage.refused, count(totals.refused)],
          [m.usage.events, count(totals.events)],
          [m.usage.attempts, count(totals.attempts)],
        ]}
      />
      <Table
        label={m.usage.title}
        rows={data}
        keyOf={(entry) => `${entry.start} ${nameOf(entry)}`}
        empty={m.usage.none}
        columns={[
          { name: splits[split ?? ''], cell: (entry) => <code>{nameOf(entry)}</code> },
          number(m.usage.requests, ({ requests }) => count(requests)),
          number(m.usage.refused, ({ refused }) => count(refused)),
          number(m.usage.events, ({ events }) => count(events)),
          number(m.usage.deliveries, ({ deliveries }) => count(deliveries)),
          number(m.usage.attempts, ({ attempts }) => count(attempts)),
          number(m.usage.bytesIn, ({ bytes_in }) => bytes(bytes_in)),
          number(m.usage.bytesOut, ({ bytes_out }) => bytes(bytes_out)),
        ]}
      />
    </>
  );
}

/** Usage counts in months of UTC. */
function boundsOf(month: string): { since: string; until: string } {
  const since = new Date(`${month}-01T00:00:00.000Z`);
  const until = new Date(since);
  until.setUTCMonth(until.getUTCMonth() + 1);
  return { since: since.toISOString(), until: until.toISOString() };
}

function lastMonths(): string[] {
  const now = new Date();
  return Array.from({ length: 12 }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  );
}
