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

/** Emits with an `Idempotency-Key`, and returns how the span of the event ended. */
async function spanOfEmission(emitWithin: () => Promise<WrittenEvent[]>): Promise<SpanEnd | undefined> {
  const ends: (SpanEnd | undefined)[] = [];
  const tracing: Tracing = {
    start: () => ({ traceparent, traceId: traceparent.slice(3, 35), end: (end) => void ends.push(end) }),
    stop: async () => undefined,
  };
  const events = createEventService({
    emit: async () => [written],
    emitWithin,
    findActiveOrganizations: async (ids) => [...ids],
    onClosed: () => undefined,
    onEmitted: () => undefined,
    tracing,
  });
  const transact = ((work: (unit: object) => Promise<unknown>) => work({ emitted: () => undefined })) as Transact;
  const emission = events.emitOnce(transact, testEvent(organizationId), { requestId: 'r', traceparent });
  await emission.catch(() => undefined);
  return ends[0];
}

it('the span of an event ends with its id', async () => {
  const end = await spanOfEmission(async () => [written]);
  expect(end?.attributes).toMatchObject({ 'messaging.message.id': toPublicId('evt', written.id) });
  expect(end?.error).toBeUndefined();
});

it('the span of an event that was not written says so, and names no event', async () => {
  expect(await spanOfEmission(() => Promise.reject(new Error('refused')))).toEqual({ error: 'not_written' });
});
