import { inParallel } from '@enterprise-api/testkit';
import { answerCalls } from '@enterprise-api/testkit/peer-calls';
import { type ClientName, clients, type Post, type Target } from './clients.ts';

// One client in a fresh process: no client profits from code that another compiled, or pays for its garbage.
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
  await inParallel(Array.from({ length: count }), concurrency, async () => {
    const status = await post(body);
    if (status !== 200) throw new Error(`A request was answered with ${status}: the measurement is void.`);
  });
}

export type MeasureCalls = { measure: typeof measure };
answerCalls({ measure } satisfies MeasureCalls);
