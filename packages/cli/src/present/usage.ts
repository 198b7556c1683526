import type { Usage } from '@enterprise-api/sdk';
import { bar } from '../output/bar.ts';
import type { Paint } from '../output/paint.ts';
import type { Column } from '../output/table.ts';
import { bytes, count, time } from './format.ts';

type Bucket = Usage['data'][number];

const barColumns = 20;

/** Prints a row per bucket. On a terminal, bars compare the requests. */
export function usageColumns({ data, granularity }: Usage, paint: Paint, isTerminal: boolean): Column<Bucket>[] {
  const most = Math.max(1, ...data.map(({ requests }) => requests));
  const number = (title: string, read: (bucket: Bucket) => number, show = count): Column<Bucket> => ({
    title,
    text: (bucket) => (isTerminal ? show(read(bucket)) : String(read(bucket))),
    align: 'right',
  });
  const bars: Column<Bucket> = {
    title: '',
    text: ({ requests }) => bar(requests / most, barColumns).padEnd(barColumns),
    paint: (cell) => paint('cyan', cell),
  };
  return [
    { title: `${granularity.toUpperCase()} (UTC)`, text: ({ start }) => startOf(start, granularity) },
    ...groupColumns(data),
    number('REQUESTS', ({ requests }) => requests),
    ...(isTerminal ? [bars] : []),
    number('REFUSED', ({ refused }) => refused),
    number('IN', ({ bytes_in }) => bytes_in, bytes),
    number('OUT', ({ bytes_out }) => bytes_out, bytes),
    number('EVENTS', ({ events }) => events),
    number('DELIVERIES', ({ deliveries }) => deliveries),
    number('ATTEMPTS', ({ attempts }) => attempts),
  ];
}

/** The field that divides the buckets, if any. */
function groupColumns(data: Usage['data']): Column<Bucket>[] {
  if (data.some((bucket) => bucket.key_id !== undefined))
    return [{ title: 'KEY', text: ({ key_id }) => key_id ?? '-' }];
  if (data.some((bucket) => bucket.area !== undefined)) return [{ title: 'AREA', text: ({ area }) => area ?? '-' }];
  return [];
}

const lengths = { hour: 16, day: 10, month: 7 } as const;

const startOf = (start: string, granularity: Usage['granularity']) => time(start).slice(0, lengths[granularity]);

/** Prints the period's sums in one line. */
export function totalsLine({ totals, since, until }: Usage): string {
  const parts = [
    `${count(totals.requests)} requests (${count(totals.refused)} refused)`,
    `${bytes(totals.bytes_in)} in`,
    `${bytes(totals.bytes_out)} out`,
    `${count(totals.events)} events`,
    `${count(totals.deliveries)} deliveries`,
    `${count(totals.attempts)} attempts`,
  ];
  return `${time(since)} to ${time(until)}: ${parts.join(', ')}`;
}
