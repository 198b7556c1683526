import { newUuid } from '@enterprise-api/shared/runtime';
import { until } from '@enterprise-api/testkit';
import { afterEach, expect, it, jest } from '@jest/globals';
import { type FeedEvent, type FeedPage, OrganizationFeed, type Place } from './organization-feed.ts';

const start: Place = { position: 0, id: newUuid() };
const eventAt = (position: number): FeedEvent => ({ position, id: newUuid(), type: 'batch.failed', body: '{}' });

/** A feed over a list that grows, and the places that were asked for. */
function feedOver(all: FeedEvent[], { isBehind = false } = {}) {
  const asked: number[] = [];
  const errors: unknown[] = [];
  const state = { isBehind, isAway: false };
  const read = async ({ position }: Place): Promise<FeedPage> => {
    asked.push(position);
    await new Promise((resolve) => setImmediate(resolve));
    if (state.isAway) throw new Error('away');
    return { events: all.filter((event) => event.position > position).slice(0, 2), isBehind: state.isBehind };
  };
  return { feed: new OrganizationFeed({ read, onError: (error) => errors.push(error) }), asked, errors, state };
}

const never = new AbortController().signal;

afterEach(() => void jest.useRealTimers());

it('asks once for a hundred streams at the same place, at each wake-up', async () => {
  const all: FeedEvent[] = [];
  const { feed, asked } = feedOver(all);
  const streams = Array.from({ length: 100 }, () => feed.next(start, never));
  await until('the streams wait', () => feed.waitsBehind() !== undefined);
  expect(asked).toEqual([0]);
  feed.wake();
  await until('the streams wait again', () => asked.length === 2 && feed.waitsBehind() !== undefined);
  all.push(eventAt(1));
  feed.wake();
  const got = await Promise.all(streams);
  expect(asked).toEqual([0, 0, 0]);
  expect(got.every(([event]) => event?.position === 1)).toBe(true);
});

it('has the latest pages for streams that come a little later', async () => {
  const { feed, asked } = feedOver([1, 2, 3].map(eventAt));
  const first = await feed.next(start, never);
  const last = first.at(-1) as FeedEvent;
  expect((await feed.next(last, never)).map(({ position }) => position)).toEqual([3]);
  expect(await feed.next(start, never)).toEqual(first);
  expect(asked).toEqual([0, 2]);
});

it('keeps a page for two seconds at most, because an erasure may remove an event from it', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  const all = [1, 2].map(eventAt);
  const { feed } = feedOver(all);
  expect(await feed.next(start, never)).toHaveLength(2);
  all.shift();
  jest.advanceTimersByTime(2_000);
  expect(await feed.next(start, never)).toHaveLength(1);
});

it('reads again when it is woken while it reads', async () => {
  const all: FeedEvent[] = [];
  const { feed, asked } = feedOver(all);
  const next = feed.next(start, never);
  all.push(eventAt(1));
  feed.wake();
  expect(await next).toHaveLength(1);
  expect(asked.length).toBeLessThanOrEqual(2);
});

it('looks again by itself while an open transaction holds events back, and not for ever', async () => {
  const all: FeedEvent[] = [];
  const { feed, asked, state } = feedOver(all, { isBehind: true });
  const next = feed.next(start, never);
  await until('it looks again', () => asked.length > 1);
  all.push(eventAt(1));
  state.isBehind = false;
  expect(await next).toHaveLength(1);
  feed.close();
});

it('goes on after the database was away', async () => {
  const { feed, errors, state } = feedOver([eventAt(1)]);
  state.isAway = true;
  const next = feed.next(start, never);
  await until('the stream waits', () => feed.waitsBehind() !== undefined);
  expect(errors).toHaveLength(1);
  state.isAway = false;
  feed.wake();
  expect(await next).toHaveLength(1);
});

it('lets go of a stream that ends while it waits', async () => {
  const { feed } = feedOver([]);
  const ending = new AbortController();
  const next = feed.next(start, ending.signal);
  await until('the stream waits', () => feed.waitsBehind() !== undefined);
  ending.abort();
  expect(await next).toEqual([]);
  expect(feed.waitsBehind()).toBeUndefined();
});
