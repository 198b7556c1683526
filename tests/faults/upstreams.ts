import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** How an internal service behaves: as it should, refusing connections, accepting and never answering, or resetting. */
export type Conduct = 'answers' | 'is away' | 'hangs' | 'resets';

/** An internal service that owns an area, and that a campaign breaks. */
export interface FaultyUpstream extends AsyncDisposable {
  readonly url: string;
  conduct(conduct: Conduct): Promise<void>;
}

export async function startFaultyUpstream(answer: RequestListener): Promise<FaultyUpstream> {
  let current: Conduct = 'answers';
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    if (current === 'answers') answer(request, response);
    else if (current === 'resets') request.socket.resetAndDestroy();
  });
  server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    conduct: async (conduct) => {
      current = conduct;
      if (conduct === 'is away') await close();
      else if (!server.listening) await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    [Symbol.asyncDispose]: close,
  };
}

/** What a client knows of its request when it is over. */
export interface Exchanged {
  /** 0: no answer came. */
  status: number;
  body: Buffer;
  /** Whether the client takes the answer for a whole one. */
  isWhole: boolean;
  ms: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });

/** Sends a request to an API. Never rejects. */
export async function exchange(method: string, url: string, key: string, sent = ''): Promise<Exchanged> {
  const startedAt = performance.now();
  const result = { status: 0, body: Buffer.alloc(0), isWhole: false };
  try {
    const headers = { Authorization: `Bearer ${key}`, ...(sent !== '' && { 'Content-Length': sent.length }) };
    const request = httpRequest(url, { method, agent, headers }).end(sent);
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    result.status = answer.statusCode ?? 0;
    result.body = await buffer(answer);
    result.isWhole = answer.complete;
  } catch {
    // The connection was refused, reset, or ended too early.
  }
  return { ...result, ms: performance.now() - startedAt };
}
