import { type EmitEventInput, emitEventSchema } from '../contracts/index.ts';
import { createJobProducer, type JobProducer, maxQueuedEventDataBytes, type QueueBackend } from '../queue/index.ts';
import { newUuid, toPublicId } from '../runtime/ids.ts';
import { isSafeRequestId } from '../runtime/request-id.ts';
import { traceparentOf } from './active-trace.ts';

/** The queue already holds 1,000 whole events. The caller should try again later, or write to the database instead. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

export interface EmitOptions {
  /**
   * `X-Request-Id` of the request that caused the event. The event and the log line of every attempt carry this id. The
   * producer drops an id that does not match `[A-Za-z0-9._-]{1,128}` and still emits the event.
   */
  requestId?: string | undefined;
  /**
   * The trace of the event as a W3C `traceparent`; its attempts continue this trace. Default: the active OpenTelemetry
   * span of the caller, if any. The producer drops an invalid value.
   */
  traceparent?: string | undefined;
}

export function safeRequestId({ requestId }: EmitOptions): string | undefined {
  return requestId !== undefined && isSafeRequestId(requestId) ? requestId : undefined;
}

export interface QueueOnlyProducer {
  /**
   * Adds a job with the whole event. A worker first writes the event to the ledger; until then, only the queue holds
   * it. If the organization does not exist, the job stays in the failed set. The worker logs and counts the failure
   * (`webhook_jobs_failed_total{queue="event-writes"}`).
   *
   * @returns the public id of the event. The event gets another id if the caller's `id` was used before or this
   *   machine's clock differs from the database's by more than 5 minutes
   * @throws ZodError if the event violates the contract or its data exceeds 16 KiB as JSON
   * @throws QueueFullError if 1,000 events already wait
   * @throws the queue's error if the queue does not answer. The job may exist anyway. With a caller's own `id`,
   *   emitting the event again creates no duplicate
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

/** Like {@link createQueueOnlyProducer}, but connects to the queue at the first event. */
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
