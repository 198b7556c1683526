import { ApiError } from '@enterprise-api/sdk';
import { describe, expect, it } from '@jest/globals';
import { type EventStreamServerOptions, type Plan, startEventStreamServer } from '../testing/event-stream-server.ts';
import { type Followed, followEvents } from './follow.ts';

/** The ids that are handed on until there are `wanted` of them, and everything else that happened. */
async function follow(options: EventStreamServerOptions, wanted = options.count) {
  await using server = await startEventStreamServer(options);
  const ending = new AbortController();
  const access = { url: server.url, secret: 'nwk_test' };
  const pauses = { firstMs: 1, longestMs: 4 };
  const ids: string[] = [];
  const others: Exclude<Followed, { kind: 'event' }>[] = [];
  for await (const message of followEvents({ access, events: [], after: undefined, signal: ending.signal, pauses })) {
    if (message.kind === 'event') ids.push(message.id);
    else others.push(message);
    if (ids.length >= wanted) ending.abort();
  }
  return { ids, others, expected: server.events.map(({ id }) => id), lastEventIds: server.lastEventIds };
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

describe('a stream that is followed', () => {
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
      expect(found.others.filter(({ kind }) => kind === 'session').length).toBeGreaterThan(0);
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
    expect(found.others).toMatchObject([
      { kind: 'session', isFirst: true },
      { kind: 'lost' },
      { kind: 'session', isFirst: false },
    ]);
  });

  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden_scope'],
    [404, 'not_found'],
    [410, 'event_expired'],
  ])("ends with the API's error when it is refused for good: %d %s", async (status, code) => {
    const refused = follow({ count: 1, plan: () => ({ kind: 'refuse', status, code }) });
    await expect(refused).rejects.toMatchObject({ status, code, message: `Refused: ${code}.` });
    await expect(refused).rejects.toBeInstanceOf(ApiError);
  });

  it('waits and tries again when there are too many streams', async () => {
    const found = await follow({
      count: 1,
      plan: (connection) => (connection < 3 ? { kind: 'refuse', status: 429, code: 'rate_limited' } : { kind: 'stay' }),
    });
    expect(found.ids).toEqual(found.expected);
    expect(found.others.map(({ kind }) => kind)).toEqual(['lost', 'lost', 'session']);
  });

  it('leaves out what is no event, and goes on', async () => {
    const tamper = (id: string, text: string) =>
      id.endsWith('0001') ? 'id: evt_x\ndata: {"body":1}\n\nevent: news\ndata: x\n\n' : text;
    const found = await follow({ count: 3, plan: () => ({ kind: 'stay' }), tamper }, 2);
    expect(found.ids).toEqual([found.expected[0], found.expected[2]]);
  });
});
