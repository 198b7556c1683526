import { describe, expect, it } from '@jest/globals';
import { createOpenStream } from '../http/open-stream.ts';
import { checkOptions } from '../options.ts';
import { type EventStreamServerOptions, type Plan, startEventStreamServer } from '../testing/event-stream-server.ts';
import { followEvents } from './follow.ts';

/** The ids that are handed on until there are `wanted` of them, and everything else that happened. */
async function follow(options: EventStreamServerOptions, { wanted = options.count, idleMs = 30_000 } = {}) {
  await using server = await startEventStreamServer(options);
  const ending = new AbortController();
  const open = createOpenStream(checkOptions({ apiKey: 'nwk_test', baseUrl: server.url }), idleMs);
  const source = { open, pauses: { firstMs: 1, longestMs: 4 } };
  const ids: string[] = [];
  const notices: string[] = [];
  const reasons: (string | undefined)[] = [];
  const following = followEvents(source, {
    signal: ending.signal,
    onConnect: () => notices.push('connected'),
    onDisconnect: (reason) => {
      notices.push('lost');
      reasons.push(reason?.message);
    },
    onUnverified: ({ id }) => notices.push(`unverified ${id}`),
  });
  for await (const { id, event, body } of following) {
    expect(JSON.parse(body)).toMatchObject({ id: event.id });
    expect(id).toBe(event.id);
    if (ids.push(id) === wanted) ending.abort();
  }
  return { ids, notices, reasons, expected: server.events.map(({ id }) => id), lastEventIds: server.lastEventIds };
}

/** Numbers from 0 to 1 that a seed repeats (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function randomPlan(next: () => number): Plan {
  const choice = next();
  if (choice < 0.7) return { kind: 'cut', afterBytes: Math.floor(next() * 6_000) };
  if (choice < 0.85) return { kind: 'refuse', status: 503, code: 'service_unavailable' };
  return { kind: 'end' };
}

describe('a stream that is cut', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'hands on every event once and in order, wherever it is cut (seed %d)',
    async (seed) => {
      const next = random(seed);
      const plans = Array.from({ length: 40 }, () => randomPlan(next));
      const found = await follow({
        count: 60,
        plan: (connection) => plans[connection - 1] ?? { kind: 'stay' },
        repeats: seed % 2 === 0,
      });
      expect(found.ids).toEqual(found.expected);
      expect(found.notices).toContain('connected');
    },
  );

  it('goes on after the last whole event', async () => {
    const found = await follow({
      count: 5,
      plan: (connection) => (connection === 1 ? { kind: 'cut', afterBytes: 2_500 } : { kind: 'stay' }),
    });
    const [first, second] = found.lastEventIds;
    expect(first).toBeNull();
    expect(found.expected.slice(0, -1)).toContain(second);
    expect(found.notices).toEqual(['connected', 'lost', 'connected']);
    expect(found.reasons).toEqual([expect.stringContaining('The connection broke')]);
  });

  it('does not take a connection without a byte for one that lives', async () => {
    const found = await follow(
      { count: 2, plan: (connection) => ({ kind: connection === 1 ? 'silent' : 'stay' }) },
      { idleMs: 1_000 },
    );
    expect(found.ids).toEqual(found.expected);
    expect(found.reasons[0]).toContain('Timeout');
  });

  it('waits and tries again when there are too many streams', async () => {
    const found = await follow({
      count: 1,
      plan: (connection) => (connection < 3 ? { kind: 'refuse', status: 429, code: 'rate_limited' } : { kind: 'stay' }),
    });
    expect(found.ids).toEqual(found.expected);
    expect(found.notices).toEqual(['lost', 'lost', 'connected']);
  });

  it('leaves out what is no event, and goes on', async () => {
    const tamper = (id: string, text: string) =>
      id.endsWith('0001') ? 'id: evt_x\ndata: {"body":1}\n\nevent: news\ndata: x\n\n' : text;
    const found = await follow({ count: 3, plan: () => ({ kind: 'stay' }), tamper }, { wanted: 2 });
    expect(found.ids).toEqual([found.expected[0], found.expected[2]]);
  });

  it('gives an event with a wrong signature to the caller, and goes on', async () => {
    const tamper = (id: string, text: string) => (id.endsWith('0001') ? text.replace('bat_1', 'bat_9') : text);
    const found = await follow({ count: 3, plan: () => ({ kind: 'stay' }), tamper }, { wanted: 2 });
    expect(found.ids).toEqual([found.expected[0], found.expected[2]]);
    expect(found.notices).toEqual(['connected', `unverified ${found.expected[1]}`]);
  });

  it('hands on nothing after its signal', async () => {
    const found = await follow({ count: 5, plan: () => ({ kind: 'stay' }) }, { wanted: 1 });
    expect(found.ids).toEqual(found.expected.slice(0, 1));
  });
});
