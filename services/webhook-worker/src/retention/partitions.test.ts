import { bodiesPartitionName, bodiesTable, dayMs, partitionName, startOfMonth } from '@enterprise-api/shared/ledger';
import { describe, expect, it } from '@jest/globals';
import {
  expiryOf,
  inDropOrder,
  type Partition,
  startOfBodies,
  startOfEventKeys,
  startOfHistory,
} from './partitions.ts';

const hour = 3_600_000;
const at = (text: string) => Date.parse(`${text}Z`);
const periods = { RETENTION_BODIES: 720 * hour, RETENTION_HISTORY: 2_160 * hour, RETENTION_AUDIT: 0 };

const month = (from: number, table: 'events' | 'attempts' | 'deliveries' = 'events'): Partition => ({
  table,
  name: partitionName(table, from),
  from,
  until: startOfMonth(from, 1),
});
const day = (from: number): Partition => ({
  table: bodiesTable,
  name: bodiesPartitionName(from),
  from,
  until: from + dayMs,
});

describe('a partition is past its time', () => {
  it('when its youngest row is as old as the setting: a body is kept for 31 days at most, an event for 121', () => {
    const [body, event] = [day(at('2026-09-30T00:00:00')), month(at('2026-07-01T00:00:00'))];
    expect(expiryOf(body, periods)).toBe(at('2026-10-31T00:00:00'));
    expect(expiryOf(body, periods) - body.from).toBe(31 * dayMs);
    expect(expiryOf(event, periods)).toBe(at('2026-10-30T00:00:00'));
  });

  it('never less than a day after its end, and never where it is kept for ever', () => {
    const soon = { ...periods, RETENTION_BODIES: 1, RETENTION_HISTORY: 1 };
    const forEver = {
      ...periods,
      RETENTION_BODIES: Number.POSITIVE_INFINITY,
      RETENTION_HISTORY: Number.POSITIVE_INFINITY,
    };
    for (const partition of [day(at('2026-10-31T00:00:00')), month(at('2026-10-01T00:00:00'))]) {
      expect(expiryOf(partition, soon)).toBe(at('2026-11-02T00:00:00'));
      expect(expiryOf(partition, forEver)).toBe(Number.POSITIVE_INFINITY);
    }
    expect(startOfBodies(forEver, at('2026-10-31T00:00:00'))).toBe(0);
    expect(startOfHistory(forEver, at('2026-10-31T00:00:00'))).toBe(0);
  });
});

it('bodies without a partition go with those of their day', () => {
  expect(startOfBodies(periods, at('2026-10-30T23:59:59.999'))).toBe(at('2026-09-30T00:00:00'));
  expect(startOfBodies(periods, at('2026-10-31T00:00:00'))).toBe(at('2026-10-01T00:00:00'));
});

it('the keys of the first month that is kept stay', () => {
  expect(startOfHistory(periods, at('2026-10-29T23:59:59'))).toBe(at('2026-07-01T00:00:00'));
  expect(startOfHistory(periods, at('2026-10-30T00:00:00'))).toBe(at('2026-08-01T00:00:00'));
});

it('the keys of the last 8 days stay, which tell a late sweep which operational events exist', () => {
  const soon = { ...periods, RETENTION_HISTORY: 1 };
  expect(startOfEventKeys(soon, at('2026-10-02T00:00:00'))).toBe(at('2026-09-24T00:00:00'));
  expect(startOfEventKeys(soon, at('2026-10-20T00:00:00'))).toBe(at('2026-10-01T00:00:00'));
});

it('the deliveries of a month go first and its events last, the oldest month before others', () => {
  const [older, younger] = [at('2026-07-01T00:00:00'), at('2026-08-01T00:00:00')];
  const found = inDropOrder([
    month(younger),
    day(older),
    month(older),
    month(younger, 'attempts'),
    month(younger, 'deliveries'),
  ]);
  expect(found.map(({ name }) => name)).toEqual([
    'events_2026_07',
    'deliveries_2026_08',
    'attempts_2026_08',
    'events_2026_08',
  ]);
});
