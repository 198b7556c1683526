import { type EmitEventInput, emitEventSchema } from '../contracts/index.ts';
import type { JobProducer } from '../queue/enqueue.ts';
import { maxQueuedEventDataBytes } from '../queue/jobs.ts';
import { newUuid, toPublicId } from '../runtime/ids.ts';

/** The queue already holds 1,000 whole events. Try again later, or write to the database instead. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

/** Emits events from a process that reaches the queue only. */
export interface QueueOnlyProducer {
  /**
   * Adds a job with the whole event, which a worker first writes to the ledger. Until then the event is only as durable
   * as the queue: prefer {@link EventProducer} where the database can be reached.
   *
   * @returns the public id that the event will have, unless the caller's `id` was used before or this machine's clock
   *   is more than 5 minutes off the database's
   * @throws ZodError when the event does not satisfy the contract or its data is over 16 KiB as JSON
   * @throws QueueFullError when 1,000 events wait already
   * @throws the queue's error when the queue does not answer. The event may or may not have been added: with an `id` of
   *   the caller's own it can be emitted again without a duplicate
   */
  emit(event: EmitEventInput): Promise<string>;
}

const maxWaitingEvents = 1_000;

const queuedEventSchema = emitEventSchema.refine(
  (event) => Buffer.byteLength(JSON.stringify(event.data)) <= maxQueuedEventDataBytes,
  { path: ['data'], message: `must be at most ${maxQueuedEventDataBytes} bytes as JSON` },
);

export function createQueueOnlyProducer(
  queue: Pick<JobProducer<'writeEvent'>, 'add' | 'waitingCount'>,
): QueueOnlyProducer {
  return {
    emit: async (event) => {
      queuedEventSchema.parse(event);
      if ((await queue.waitingCount()) >= maxWaitingEvents) {
        throw new QueueFullError(`The queue already holds ${maxWaitingEvents} whole events.`);
      }
      const id = newUuid();
      await queue.add({ version: 1, event_id: id, event });
      return toPublicId('evt', id);
    },
  };
}
