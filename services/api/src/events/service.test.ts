import type { WrittenEvent } from '@enterprise-api/shared/events';
import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import type { SpanEnd, Tracing } from '@enterprise-api/shared/tracing';
import { testEvent } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import type { Transact } from '../core/unit-of-work.ts';
import { createEventService } from './service.ts';

const organizationId = newUuid();
const written = { id: newUuid(), organizationId, duplicate: false } as WrittenEvent;
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** Emits with an `Idempotency-Key`, in a transaction that ends as told, and returns how the span of the event ended. */
async function spanOfEmission(isCommitted: boolean): Promise<SpanEnd | undefined> {
  const ends: (SpanEnd | undefined)[] = [];
  const tracing: Tracing = {
    start: () => ({ traceparent, traceId: traceparent.slice(3, 35), end: (end) => void ends.push(end) }),
    stop: async () => undefined,
  };
  const events = createEventService({
    emit: async () => [written],
    emitWithin: async () => [written],
    findExistingOrganizations: async (ids) => [...ids],
    onEmitted: () => undefined,
    tracing,
  });
  const transact = (async (work: (unit: object) => Promise<unknown>) => {
    const waiting: ((committed: boolean) => void)[] = [];
    const result = await work({ emitted: () => undefined, settled: waiting.push.bind(waiting) });
    expect(ends).toEqual([]);
    for (const tell of waiting) tell(isCommitted);
    return result;
  }) as Transact;
  await events.emitOnce(transact, testEvent(organizationId), { requestId: 'r', traceparent });
  return ends[0];
}

it('the span of an event ends with its id once the transaction of its request is committed', async () => {
  const end = await spanOfEmission(true);
  expect(end?.attributes).toMatchObject({ 'messaging.message.id': toPublicId('evt', written.id) });
  expect(end?.error).toBeUndefined();
});

it('the span of an event that was rolled back says so, and names no event', async () => {
  expect(await spanOfEmission(false)).toEqual({ error: 'not_written' });
});
