import { Queue } from 'bullmq';
import { settledWithin } from '../runtime/index.ts';
import { producerBinding, type QueueBackend } from './backend.ts';

const closesWithinMs = 2_000;

/**
 * Asks queues, over connections of their own: operators ask rarely, and a connection that is kept is one less for the rest.
 * Null when a queue refuses, or does not answer in time.
 */
export async function withQueues<Answer>(
  backend: QueueBackend,
  names: readonly string[],
  withinMs: number,
  ask: (queue: OperatorQueue) => Promise<Answer>,
): Promise<Answer[] | null> {
  const queues = names.map((name) => openQueue(backend, name));
  const answers = Promise.all(queues.map((queue) => queue.waitUntilReady().then(() => ask(queue)))).catch(() => null);
  const isAnswered = await settledWithin(answers, withinMs);
  for (const queue of queues) void closeOrCut(queue, backend);
  return isAnswered ? answers : null;
}

/** A queue as an operator sees it. */
export type OperatorQueue = ReturnType<typeof openQueue>;

function openQueue(backend: QueueBackend, name: string) {
  const { options, factory } = producerBinding(backend, name);
  const queue = new Queue(name, { ...options, skipMetasUpdate: true }, factory);
  // What fails is told by the answer.
  queue.on('error', () => undefined);
  return queue;
}

/** A connection that is being made is cut, or ioredis would go on for ever. */
async function closeOrCut(queue: OperatorQueue, backend: QueueBackend): Promise<void> {
  const closing = queue.close().then(
    () => true,
    () => false,
  );
  const isClosed = (await settledWithin(closing, closesWithinMs)) && (await closing);
  if (!isClosed && backend.kind === 'redis') await queue.disconnect().catch(() => undefined);
}
