import type { Change } from '@enterprise-api/shared/ledger';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { EventNotifier } from './event-notifier.ts';

const organization = '01940000-0000-7000-8000-000000000001';
let published: Change[];
let notifier: EventNotifier;

beforeEach(() => {
  jest.useFakeTimers();
  published = [];
  const now = () => performance.now();
  notifier = new EventNotifier({ now, monotonic: now });
  // The feed brings every message back to its sender.
  notifier.connect(async (change) => {
    published.push(change);
    notifier.onChange(change);
  });
});
afterEach(() => {
  jest.useRealTimers();
});

const told = () => published.filter(({ kind }) => kind === 'events').length;

it('tells of new events of an organization that some process follows, and of no other', () => {
  notifier.emitted(organization);
  expect(published).toEqual([]);
  notifier.announce(organization);
  notifier.emitted(organization);
  notifier.emitted('01940000-0000-7000-8000-000000000002');
  expect(published).toEqual([
    { kind: 'followed', id: organization },
    { kind: 'events', id: organization },
  ]);
});

it('tells nothing any more once no process has said for 5 s that it follows', () => {
  notifier.announce(organization);
  jest.advanceTimersByTime(4_900);
  notifier.emitted(organization);
  jest.advanceTimersByTime(200);
  notifier.emitted(organization);
  expect(told()).toBe(1);
});

it('tells of many events at once, and then together every 50 ms', () => {
  notifier.announce(organization);
  for (let count = 0; count < 100; count += 1) {
    notifier.emitted(organization);
    jest.advanceTimersByTime(1);
  }
  jest.advanceTimersByTime(1_000);
  expect(told()).toBe(3);
});
