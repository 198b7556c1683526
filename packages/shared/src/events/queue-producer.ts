import { type EmitEventInput, emitEventSchema } from '../contracts/index.ts';
import type { JobProducer } from '../queue/enqueue.ts';
import { maxQueuedEventDataBytes } from '../queue/jobs.ts';
import { newUuid, toPublicId } from '../runtime/ids.ts';

/** The queue holds as many whole events as it should. Try again later, or reach the database. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

/** Emits events for code that reaches only the queue. */
export interface QueueOnlyProducer {
  /**
   * Hands a whole event to the workers, which write it to the ledger before anything else. Until then it is only as
   * durable as the queue is: prefer {@link EventProducer} wherever the database can be reached.
   *
   * @returns the public id that the event will have, unless a worker finds its caller's id taken or its time bits
   *   more than 5 minutes off the database's clock
   * @throws ZodError when the event does not satisfy the contract or its data is over 16 KiB as JSON
   * @throws QueueFullError when 1,000 events wait already
   * @throws the queue's error when it does not answer; the event may or may not have been added: give it an `id`
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
