import { settledWithin } from '../runtime/index.ts';
import { type OpenQueue, openQueue, type QueueBackend } from './backend.ts';

const answersWithinMs = 2_000;

/**
 * Asks queues over temporary connections: operators ask rarely, and the number of connections is limited. Returns null
 * if a queue refuses or does not answer in time.
 */
export async function withQueues<Answer>(
  backend: QueueBackend,
  names: readonly string[],
  ask: (queue: OpenQueue['queue']) => Promise<Answer>,
  withinMs = answersWithinMs,
): Promise<Answer[] | null> {
  // Ignore errors, because the null answer already reports them.
  const opened = names.map((name) => openQueue(backend, name, () => undefined));
  const answers = Promise.all(opened.map(({ queue }) => queue.waitUntilReady().then(() => ask(queue)))).catch(
    () => null,
  );
  const isAnswered = await settledWithin(answers, withinMs);
  for (const { close } of opened) void close();
  return isAnswered ? answers : null;
}
