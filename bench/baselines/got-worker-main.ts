import { Agent } from 'node:https';
import { answerCalls } from '@enterprise-api/testkit/peer-calls';
// oxlint-disable-next-line no-restricted-imports -- a baseline: BullMQ as its documentation shows it
import { Worker } from 'bullmq';
import got from 'got';
import {
  type DeliveryJob,
  queueName,
  redisAt,
  signedHeaders,
  type WorkerOptions,
  workerConcurrency,
} from './outbound.ts';

// B2: one POST with got for each job; BullMQ stores the result.
export type WorkerCalls = { work: (options: WorkerOptions) => Promise<void> };
answerCalls({ work } satisfies WorkerCalls);

async function work({ redisUrl, ca }: WorkerOptions): Promise<void> {
  const agent = { https: new Agent({ keepAlive: true, ca }) };
  const http = got.extend({
    agent,
    retry: { limit: 0 },
    timeout: { request: 5_000 },
    https: { certificateAuthority: ca },
  });
  const worker = new Worker<DeliveryJob>(
    queueName,
    async ({ data: { url, body } }) => {
      const { statusCode } = await http.post(url, { body, headers: signedHeaders(body) });
      return statusCode;
    },
    { connection: redisAt(redisUrl), concurrency: workerConcurrency },
  );
  await worker.waitUntilReady();
}
