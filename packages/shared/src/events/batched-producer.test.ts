import { until } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { createBatches } from './batched-producer.ts';
import type { NewEvent, WrittenEvent } from './write-events.ts';

const event = (id: string, organizationId = 'org'): NewEvent => ({
  id,
  organizationId,
  type: 'batch.failed',
  body: '{}',
  occurredAt: null,
  key: null,
  requestId: null,
  traceparent: null,
});
const written = ({ id }: NewEvent): WrittenEvent => ({
  id,
  type: 'batch.failed',
  organizationId: 'org',
  duplicate: false,
});

describe('batches of events', () => {
  it('write the groups of one event loop iteration in one statement, and give each caller its own', async () => {
    const statements: string[][] = [];
    const batches = createBatches(async (events) => {
      statements.push(events.map((each) => each.id));
      return events.map(written);
    });
    const answers = await Promise.all([batches([event('a')]), batches([event('b'), event('c')])]);
    expect(statements).toEqual([['a', 'b', 'c']]);
    expect(answers.map((answer) => answer.map((each) => each.id))).toEqual([['a'], ['b', 'c']]);
  });

  it('write each caller alone when the common statement fails, so that no caller fails for another', async () => {
    const batches = createBatches(async (events) => {
      if (events.some((each) => each.id === 'bad')) throw new Error('refused');
      return events.map(written);
    });
    const answers = await Promise.allSettled([batches([event('a')]), batches([event('bad')]), batches([event('b')])]);
    expect(answers.map((answer) => answer.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('never send the events of a caller that was answered while they waited', async () => {
    const { batches, statements } = held();
    for (const size of [1, 1_000]) void batches(group('running', size));
    await turn();
    const answered = new AbortController();
    const [abandoned, alone] = [group('answered', 1), group('answered', 150)].map((events) =>
      batches(events, answered.signal),
    );
    void batches(group('waiting', 1), new AbortController().signal);
    answered.abort(new Error('answered'));
    for (const { end } of statements) end();
    await expect(abandoned).rejects.toThrow('answered');
    await expect(alone).rejects.toThrow('answered');
    await turn();
    expect(statements.map(({ owners }) => owners)).toEqual([['running'], ['running'], ['waiting']]);
  });

  it('never split the events of one caller', async () => {
    const sizes: number[] = [];
    const batches = createBatches(async (events) => {
      sizes.push(events.length);
      return events.map(written);
    });
    await Promise.all([15, 15, 20, 150].map((size) => batches(group('org', size))));
    expect(sizes.sort((left, right) => left - right)).toEqual([50, 150]);
  });

  it('write the few events of others while the many of one are being written', async () => {
    const { batches, statements } = held();
    for (let n = 0; n < 4; n++) void batches(group('much', 1_000));
    await turn();
    const others = Promise.all([batches(group('little', 1)), batches(group('other', 2))]);
    await turn();
    expect(statements.map(({ owners }) => owners)).toEqual([['much'], ['little', 'other']]);
    statements[1]?.end();
    await others;
    void batches(group('little', 1));
    await until('the next statement', () => statements.length === 3);
    expect(statements.map(({ size }) => size)).toEqual([1_000, 3, 1]);
  });

  it('gather the events that arrive while a statement runs, a hundred callers per statement', async () => {
    const { batches, statements } = held();
    void batches(group('first', 1));
    await turn();
    for (let n = 0; n < 150; n++) void batches(group('later', 1));
    await turn();
    expect(statements).toHaveLength(1);
    for (const index of [0, 1]) {
      statements[index]?.end();
      await turn();
    }
    expect(statements.map(({ size }) => size)).toEqual([1, 100, 50]);
  });

  it('pause after a statement of several callers, so that more share the next one', async () => {
    const { batches, statements } = await afterSlowStatement(2);
    const [first] = statements;
    void batches(group('next', 1));
    await until('the next statement', () => statements.length === 2);
    expect((statements[1]?.startedAt ?? 0) - (first?.endedAt ?? 0)).toBeGreaterThan(10);
  });

  it('do not pause after a statement of one caller', async () => {
    const { batches, statements } = await afterSlowStatement(1);
    await turn();
    void batches(group('next', 1));
    await turn();
    expect(statements).toHaveLength(2);
  });

  it('write one large group after the other', async () => {
    const { batches, statements } = held();
    for (let n = 0; n < 2; n++) void batches(group('much', 1_000));
    await turn();
    expect(statements).toHaveLength(1);
    statements[0]?.end();
    await turn();
    expect(statements.map(({ owners }) => owners)).toEqual([['much'], ['much']]);
  });

  it('pause after a large group as long as it took if others emitted few events meanwhile', async () => {
    const { batches, statements } = held();
    const writesSmall = async () => {
      void batches(group('little', 1));
      await turn();
      statements.at(-1)?.end();
      await turn();
    };
    for (let n = 0; n < 2; n++) void batches(group('much', 1_000));
    await turn();
    await writesSmall();
    const [large] = statements;
    await until('half a pause', () => performance.now() - (large?.startedAt ?? 0) > 50);
    const tookMs = performance.now() - (large?.startedAt ?? 0);
    large?.end();
    await until('the next large group', () => statements.filter(({ size }) => size === 1_000).length === 2);
    const next = statements.at(-1);
    expect((next?.startedAt ?? 0) - (large?.endedAt ?? 0)).toBeGreaterThan(tookMs / 2);
  });
});

/** Batches whose first statement, of so many callers, has just ended after the longest pause or more. */
async function afterSlowStatement(callers: number) {
  const { batches, statements } = held();
  for (let n = 0; n < callers; n++) void batches(group('first', 1));
  await turn();
  const [first] = statements;
  await until('the longest pause', () => performance.now() - (first?.startedAt ?? 0) > 20);
  first?.end();
  return { batches, statements };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The events of one caller. */
function group(organizationId: string, size: number): NewEvent[] {
  return Array.from({ length: size }, (_, index) => event(`${organizationId} ${index}`, organizationId));
}

/** Batches whose statements end when the test says so. */
function held() {
  const statements: { size: number; owners: string[]; startedAt: number; endedAt: number; end: () => void }[] = [];
  const batches = createBatches(async (events) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const owners = [...new Set(events.map(({ organizationId }) => organizationId))];
    const statement = { size: events.length, owners, startedAt: performance.now(), endedAt: Number.NaN, end: resolve };
    statements.push(statement);
    await promise;
    statement.endedAt = performance.now();
    return events.map(written);
  });
  return { batches, statements };
}
