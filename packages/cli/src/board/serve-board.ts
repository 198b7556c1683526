import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { explain } from '../explain.ts';
import type { InternalApi } from '../internal/client.ts';
import type { QueueJobs } from '../internal/types.ts';
import { boardPage, boardStyle } from './page.ts';

/** A running board. */
export interface ServedBoard {
  /** Contains the random path that every request must have. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Sent with every answer. No script runs, no other page embeds this page or learns its address, and nothing stores a
 * copy.
 */
const headers = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/**
 * Serves the queue board on a free port of 127.0.0.1, with data from the internal listener. The secret stays in this
 * process.
 *
 * Other users of the machine can also connect to loopback, so the path contains 128 random bits. `Host` must be the
 * address itself, which prevents DNS rebinding. The server refuses requests that another site causes, and every method
 * except GET and HEAD.
 */
export async function serveBoard(api: Pick<InternalApi, 'get'>): Promise<ServedBoard> {
  const token = randomBytes(16).toString('base64url');
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    answer(request, { token, host: `127.0.0.1:${port}`, api }).then(
      (page) => send(request, response, page),
      (error: unknown) => send(request, response, { status: 502, type: 'text/plain', body: explain(error).message }),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${token}/`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Page {
  status: number;
  type: 'text/html' | 'text/css' | 'text/plain';
  body: string;
}

interface Place {
  token: string;
  host: string;
  api: Pick<InternalApi, 'get'>;
}

const refusal = (status: number, body: string): Page => ({ status, type: 'text/plain', body: `${body}\n` });

async function answer(request: IncomingMessage, { token, host, api }: Place): Promise<Page> {
  if (request.headers.host !== host) return refusal(421, 'This address is served under its own name only.');
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return refusal(403, 'Another site asks.');
  if (request.method !== 'GET' && request.method !== 'HEAD') return refusal(405, 'Nothing can be changed here.');
  const { pathname, searchParams } = new URL(request.url ?? '/', `http://${host}`);
  if (pathname === `/${token}/board.css`) return { status: 200, type: 'text/css', body: boardStyle };
  if (pathname !== `/${token}/`) return refusal(404, 'There is nothing here.');
  // Requests only the queue, so the board works without the ledger, and open tabs cost the ledger nothing.
  const found = await api.get<QueueJobs>('/internal/v1/queue-jobs', {
    queue: searchParams.get('queue') ?? 'events',
    state: searchParams.get('state') ?? 'failed',
  });
  return { status: 200, type: 'text/html', body: boardPage(new Date().toISOString(), found) };
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, body }: Page): void {
  const allow = status === 405 ? { Allow: 'GET, HEAD' } : {};
  // The failure page also reloads by itself, like the board.
  const refresh = status === 502 ? { Refresh: '5' } : {};
  response.writeHead(status, { ...headers, ...allow, ...refresh, 'Content-Type': `${type}; charset=utf-8` });
  response.end(request.method === 'HEAD' ? '' : body);
}
