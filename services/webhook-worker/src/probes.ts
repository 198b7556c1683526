import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ErrorCode, errorCatalogue } from '@enterprise-api/shared/contracts';
import { type Database, databaseTime } from '@enterprise-api/shared/ledger';
import { type Registry, withTimeout } from '@enterprise-api/shared/runtime';

const paths = ['/healthz', '/readyz', '/metrics'];
const databaseAnswersWithinMs = 1_000;

/**
 * Serves `/healthz`, `/readyz` and `/metrics`. A worker is ready without its queue, because the relay fans out events.
 * Without the ledger, it is not ready.
 *
 * @throws the error of `listen`, such as EADDRINUSE
 */
export async function startProbes(options: { host: string; port: number; db: Database; registry: Registry }) {
  const { db, registry } = options;
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  const isDatabaseThere = () => {
    const answer = databaseTime(db).then(
      () => true,
      () => false,
    );
    return withTimeout(answer, databaseAnswersWithinMs, () => false);
  };
  const unreadyReason = async () => {
    if (phase !== 'running') return phase;
    return (await isDatabaseThere()) ? null : 'database unavailable';
  };
  const answer = async ({ url, method = '' }: IncomingMessage, response: ServerResponse) => {
    const path = url?.split('?')[0] ?? '';
    if (!paths.includes(path)) return answerProblem(response, 'not_found');
    if (!['GET', 'HEAD'].includes(method)) return answerProblem(response, 'method_not_allowed');
    if (path === '/metrics') {
      return response.setHeader('Content-Type', registry.contentType).end(await registry.metrics());
    }
    if (path === '/healthz') return answerJson(response, { status: 'ok' });
    const reason = await unreadyReason();
    return reason === null
      ? answerJson(response, { status: 'ready' })
      : answerJson(response, { status: 'unready', reason }, errorCatalogue.service_unavailable.status);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await once(server.listen(options.port, options.host), 'listening');
  const { address, port } = server.address() as AddressInfo;
  return {
    host: address,
    port,
    started: () => {
      phase = 'running';
    },
    stopping: () => {
      phase = 'stopping';
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerProblem(response: ServerResponse, code: ErrorCode): void {
  answerJson(response, { status: code }, errorCatalogue[code].status);
}

function answerJson(response: ServerResponse, body: object, status = response.statusCode): void {
  response.statusCode = status;
  response
    .setHeader('Content-Type', 'application/json')
    .setHeader('Cache-Control', 'no-store')
    .end(JSON.stringify(body));
}
