import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from '@enterprise-api/shared/runtime';

/** `/healthz`, `/readyz` and `/metrics` of the worker. */
export interface ProbeServer {
  host: string;
  port: number;
  close(): Promise<void>;
}

export interface ProbeOptions {
  host: string;
  port: number;
  /** Why the process should get no work now, or null when it is ready. */
  unreadyReason: () => Promise<string | null>;
  registry: Registry;
}

/** @throws the error of `listen`, such as EADDRINUSE */
export async function startProbeServer({ host, port, unreadyReason, registry }: ProbeOptions): Promise<ProbeServer> {
  const answers: Record<string, (response: ServerResponse) => Promise<void>> = {
    '/healthz': async (response) => answerJson(response, 200, { status: 'ok' }),
    '/readyz': async (response) => {
      const reason = await unreadyReason();
      answerJson(
        response,
        reason === null ? 200 : 503,
        reason === null ? { status: 'ready' } : { status: 'unready', reason },
      );
    },
    '/metrics': async (response) => {
      const text = await registry.metrics();
      response.writeHead(200, { 'Content-Type': registry.contentType }).end(text);
    },
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url?.split('?')[0] ?? ''];
    if (answer === undefined) return answerJson(response, 404, { status: 'not_found' });
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answerJson(response, 405, { status: 'method_not_allowed' });
    answer(response).catch(() => answerJson(response, 500, { status: 'error' }));
  });
  await listen(server, host, port);
  const address = server.address() as AddressInfo;
  return {
    host: address.address,
    port: address.port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent) return;
  response
    .writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
    .end(JSON.stringify(body));
}
