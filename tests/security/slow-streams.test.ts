import { createConnection, type Socket } from 'node:net';
import { EnterpriseApi } from '@enterprise-api/sdk';
import {
  type ApiCustomer,
  insertEvents,
  openApiStage,
  residentMemory,
  type ServiceProcess,
  type Stage,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

/** Ten streams are what an organization may have: one is read. */
const slowStreams = 9;
const eventBytes = 200_000;
const perRound = 400;
/** Without a limit each slow stream would hold the 80 MB of a round. */
const maxGrowthMiB = 160;
const withinMs = 120_000;

let stage: Stage;
let api: ServiceProcess;
let customer: ApiCustomer;

beforeAll(async () => {
  ({ stage, api, customer } = await openApiStage());
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('clients of streams that do not read', () => {
  it(`cost an API at most ${maxGrowthMiB} MiB, are dropped with their place kept, and hold up no other stream`, async () => {
    const reader = follow();
    await until('the reading stream has begun', reader.isConnected, { withinMs });
    // Warm-up: the heap grows with any load until it reaches its working size.
    await emitRound();
    await until('the first round is read', () => reader.ids.length === perRound, { withinMs });
    const residentMiB = () => residentMemory(api.pid).now / 1_048_576;
    const before = residentMiB();
    let most = before;
    const sampling = setInterval(() => {
      most = Math.max(most, residentMiB());
    }, 50);
    const slow = await Promise.all(Array.from({ length: slowStreams }, openSlow));
    try {
      await emitRound();
      await until('the second round is read', () => reader.ids.length === 2 * perRound, { withinMs });
      await until('the slow ones are dropped', countDropped, { holds: (count) => count === slowStreams, withinMs });
    } finally {
      clearInterval(sampling);
      for (const { socket } of slow) socket.destroy();
    }
    await reader.stop();
    expect(most - before).toBeLessThanOrEqual(maxGrowthMiB);

    const again = follow(slow[0]?.place);
    await until('the second round is read again', () => again.ids.length === perRound, { withinMs });
    await again.stop();
    expect(again.ids).toEqual(reader.ids.slice(perRound));
  }, 400_000);
});

async function emitRound(): Promise<void> {
  const data = { batch_id: 'b', text: 'x'.repeat(eventBytes) };
  const type = 'batch.failed' as const;
  for (let count = 0; count < perRound; count += 10) {
    await insertEvents(
      stage.db,
      Array.from({ length: 10 }, () => testEvent(customer.organizationId, { type, data })),
    );
  }
}

/** Reads the stream beside the test. */
function follow(after?: string) {
  const ending = new AbortController();
  const ids: string[] = [];
  let isConnected = false;
  const client = new EnterpriseApi({ apiKey: customer.key, baseUrl: api.url });
  const onConnect = () => {
    isConnected = true;
  };
  const following = (async () => {
    for await (const { id } of client.events.stream({ after, signal: ending.signal, onConnect })) ids.push(id);
  })();
  return {
    ids,
    isConnected: () => isConnected,
    stop: async () => {
      ending.abort();
      await following;
    },
  };
}

/** A client that reads the head of the answer, which names its place, and nothing after it. */
async function openSlow(): Promise<{ socket: Socket; place: string | undefined }> {
  const { hostname, port } = new URL(api.url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.write(`GET /v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${customer.key}\r\n\r\n`);
  const head = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))));
  socket.pause();
  return { socket, place: /^last-event-id: (\S+)$/im.exec(head)?.[1] };
}

async function countDropped(): Promise<number> {
  const metrics = await (await fetch(new URL('/metrics', api.internalUrl))).text();
  return Number(/ended_total\{[^}]*client_slow[^}]*\} (\d+)/.exec(metrics)?.[1] ?? 0);
}
