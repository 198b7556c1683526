import { type EmitEventInput, emitEventSchema } from '../contracts/index.ts';
import { createJobProducer, type JobProducer, maxQueuedEventDataBytes, type QueueBackend } from '../queue/index.ts';
import { newUuid, toPublicId } from '../runtime/ids.ts';
import { isSafeRequestId } from '../runtime/request-id.ts';
import { traceparentOf } from './active-trace.ts';

/** The queue already holds 1,000 whole events. Try again later, or write to the database instead. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

/** What a producer may say about the request that an event comes from. */
export interface EmitOptions {
  /**
   * `X-Request-Id` of that request. The event keeps it, and every attempt has it in its log line. An id that does not
   * look like one (`[A-Za-z0-9._-]{1,128}`) is left out: no event is refused for it.
   */
  requestId?: string | undefined;
  /**
   * The trace that the event belongs to, as W3C's `traceparent`. Its attempts continue it. Without it, that of the span that
   * is active in the caller's OpenTelemetry, if it has one. What is no context of a trace is left out.
   */
  traceparent?: string | undefined;
}

/** The id to keep with the events, if it may be kept. */
export function safeRequestId({ requestId }: EmitOptions): string | undefined {
  return requestId !== undefined && isSafeRequestId(requestId) ? requestId : undefined;
}

/** Emits events from a process that reaches the queue only. */
export interface QueueOnlyProducer {
  /**
   * Adds a job with the whole event, which a worker first writes to the ledger. Until then the event is only as durable
   * as the queue. A worker that does not find the organization keeps the job as failed, logs it and counts it
   * (`webhook_jobs_failed_total{queue="event-writes"}`).
   *
   * @returns the public id that the event will have, unless the caller's `id` was used before or this machine's clock
   *   is more than 5 minutes off the database's
   * @throws ZodError when the event does not satisfy the contract or its data is over 16 KiB as JSON
   * @throws QueueFullError when 1,000 events wait already
   * @throws the queue's error when the queue does not answer. The event may or may not have been added: with an `id` of
   *   the caller's own it can be emitted again without a duplicate
   */
  emit(event: EmitEventInput, options?: EmitOptions): Promise<string>;
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
    emit: async (event, options = {}) => {
      queuedEventSchema.parse(event);
      if ((await queue.waitingCount()) >= maxWaitingEvents) {
        throw new QueueFullError(`The queue already holds ${maxWaitingEvents} whole events.`);
      }
      const id = newUuid();
      const requestId = safeRequestId(options);
      const job = {
        version: 1,
        event_id: id,
        event,
        ...(requestId !== undefined && { request_id: requestId }),
      } as const;
      await queue.add(job, await traceparentOf(options));
      return toPublicId('evt', id);
    },
  };
}

/** Like {@link createQueueOnlyProducer}, on a connection that is opened for the first event. */
export function openQueueOnlyProducer(
  backend: QueueBackend,
  onError: (error: Error) => void,
): QueueOnlyProducer & Pick<JobProducer<'writeEvent'>, 'close'> {
  let jobs: JobProducer<'writeEvent'> | undefined;
  return {
    emit: (event, options) => {
      jobs ??= createJobProducer(backend, 'writeEvent', onError);
      return createQueueOnlyProducer(jobs).emit(event, options);
    },
    close: async () => await jobs?.close(),
  };
}
