import { describe, expect, it } from '@jest/globals';
import { createBatches } from './event-batches.ts';
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
  it('write what came in one turn of the event loop in one statement, and give each caller its own', async () => {
    const statements: string[][] = [];
    const batches = createBatches(async (events) => {
      statements.push(events.map((each) => each.id));
      return events.map(written);
    });
    const answers = await Promise.all([batches.write([event('a')]), batches.write([event('b'), event('c')])]);
    expect(statements).toEqual([['a', 'b', 'c']]);
    expect(answers.map((answer) => answer.map((each) => each.id))).toEqual([['a'], ['b', 'c']]);
  });

  it('write each caller alone when the common statement fails, so that no caller fails for another', async () => {
    const batches = createBatches(async (events) => {
      if (events.some((each) => each.id === 'bad')) throw new Error('refused');
      return events.map(written);
    });
    const answers = await Promise.allSettled([
      batches.write([event('a')]),
      batches.write([event('bad')]),
      batches.write([event('b')]),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('never send the events of a caller that was answered while they waited', async () => {
    const { batches, statements } = held();
    for (const size of [1, 1, 1]) void batches.write(group('org', size));
    await turn();
    const { signal } = new AbortController();
    void batches.write(group('running', 1), signal);
    await turn();
    const answered = new AbortController();
    const [abandoned, alone] = [group('answered', 1), group('answered', 150)].map((events) =>
      batches.write(events, answered.signal),
    );
    void batches.write(group('waiting', 1), signal);
    answered.abort(new Error('answered'));
    for (const { end } of statements) end();
    await expect(abandoned).rejects.toThrow('answered');
    await expect(alone).rejects.toThrow('answered');
    await turn();
    expect(statements.map(({ owners }) => owners)).toEqual([['org'], ['running'], ['waiting']]);
  });

  it('never split the events of one caller', async () => {
    const sizes: number[] = [];
    const batches = createBatches(async (events) => {
      sizes.push(events.length);
      return events.map(written);
    });
    await Promise.all([80, 80, 80, 80, 150].map((size) => batches.write(group('org', size))));
    expect(sizes.sort((left, right) => left - right)).toEqual([80, 150, 240]);
  });

  it('write the events of other organizations while the many of one are being written', async () => {
    const { batches, statements } = held();
    for (let n = 0; n < 4; n++) void batches.write(group('much', 1_000));
    await turn();
    const others = Promise.all([batches.write(group('little', 1)), batches.write(group('other', 2))]);
    await turn();
    expect(statements.map(({ owners }) => owners)).toEqual([['much'], ['little', 'other']]);
    statements[1]?.end();
    await others;
    void batches.write(group('little', 1));
    await turn();
    expect(statements.map(({ size }) => size)).toEqual([1_000, 3, 1]);
  });

  it('write the events of organizations in turn when one has many callers', async () => {
    const { batches, statements } = held();
    for (let n = 0; n < 600; n++) void batches.write(group('much', 1));
    await turn();
    void batches.write(group('little', 1));
    await turn();
    expect(statements.map(({ owners }) => owners)).toEqual([['much'], ['much']]);
    statements[0]?.end();
    await turn();
    expect(statements[2]?.owners).toEqual(['much', 'little']);
  });

  it('give a large group a statement of its own', async () => {
    const { batches, statements } = held();
    void batches.write(group('much', 150));
    void batches.write(group('little', 1));
    await turn();
    expect(statements.map(({ owners }) => owners)).toEqual([['much'], ['little']]);
  });

  it('write large groups too while small ones keep coming', async () => {
    const { batches, statements } = held();
    void batches.write(group('little', 1));
    void batches.write(group('much', 1_000));
    await turn();
    void batches.write(group('little', 1));
    await turn();
    expect(statements.map(({ owners }) => owners)).toEqual([['little'], ['much']]);
  });

  it('write one large group after the other', async () => {
    const { batches, statements } = held();
    for (let n = 0; n < 2; n++) void batches.write(group('much', 1_000));
    await turn();
    expect(statements).toHaveLength(1);
    statements[0]?.end();
    await turn();
    expect(statements.map(({ owners }) => owners)).toEqual([['much'], ['much']]);
  });
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The events of one caller. */
function group(organizationId: string, size: number): NewEvent[] {
  return Array.from({ length: size }, (_, index) => event(`${organizationId} ${index}`, organizationId));
}

/** Batches whose statements end when the test says so. */
function held() {
  const statements: { size: number; owners: string[]; end: () => void }[] = [];
  const batches = createBatches(async (events) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const owners = [...new Set(events.map(({ organizationId }) => organizationId))];
    statements.push({ size: events.length, owners, end: resolve });
    await promise;
    return events.map(written);
  });
  return { batches, statements };
}
