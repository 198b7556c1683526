import { once } from 'node:events';
import { type ClientName, clients, type Post, type Target } from './clients.ts';

// One client in a fresh process: nothing that another one warmed up, or left for the garbage collector, is in its bill.
export interface Task extends Target {
  client: ClientName;
  warmUp: number;
  requests: number;
  bodyBytes: number;
}

export interface Measurement {
  cpuUsPerRequest: number;
  requestsPerSecond: number;
}

async function measure(task: Task): Promise<Measurement> {
  const post = clients[task.client](task);
  const body = Buffer.alloc(task.bodyBytes, 'x');
  await postMany(post, body, task.warmUp, task.concurrency);
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await postMany(post, body, task.requests, task.concurrency);
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - startedAt) / 1_000;
  return { cpuUsPerRequest: (user + system) / task.requests, requestsPerSecond: task.requests / seconds };
}

async function postMany(post: Post, body: Buffer, count: number, concurrency: number): Promise<void> {
  let left = count;
  const line = async () => {
    while (left-- > 0) {
      const status = await post(body);
      if (status !== 200) throw new Error(`A request was answered with ${status}: the measurement is void.`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, line));
}

const [task] = await once(process, 'message');
const measurement = await measure(task as Task);
process.send?.(measurement, () => process.exit());
