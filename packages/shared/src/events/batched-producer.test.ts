import { describe, expect, it } from '@jest/globals';
import { createBatches } from './batched-producer.ts';
import type { NewEvent, WrittenEvent } from './write-events.ts';

const event = (id: string): NewEvent => ({
  id,
  organizationId: 'org',
  type: 'batch.failed',
  body: '{}',
  occurredAt: null,
  key: null,
  requestId: null,
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

  it('never split the events of one caller', async () => {
    const sizes: number[] = [];
    const batches = createBatches(async (events) => {
      sizes.push(events.length);
      return events.map(written);
    });
    const group = (size: number) => Array.from({ length: size }, (_, index) => event(String(index)));
    await Promise.all([batches.write(group(150)), batches.write(group(150)), batches.write(group(150))]);
    expect(sizes.sort((left, right) => left - right)).toEqual([150, 300]);
  });
});
