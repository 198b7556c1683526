import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One request as it came. */
interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Step = (response: ServerResponse, request: SeenRequest) => void;

/** A server that answers each request with the next step of its script; beyond the end with the last one. */
export interface ScriptedApi extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
}

export async function startScriptedApi(...steps: [Step, ...Step[]]): Promise<ScriptedApi> {
  const requests: SeenRequest[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    const seen = { method, url, headers, body: await text(request) };
    const step = steps[Math.min(requests.push(seen), steps.length) - 1] as Step;
    step(response, seen);
  };
  const server = createServer((request, response) => {
    // A client that leaves ends the exchange.
    answer(request, response).catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: () => close(server),
  };
}

/** Answers with a status and JSON. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Step =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

/** Answers with an error of the API. */
export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Step =>
  json(status, { error: { type: 'api_error', code, message: `Refused: ${code}.`, request_id: 'req_1' } }, headers);

/** Ends the connection in place of an answer. */
export const hangUp: Step = (response) => void response.destroy();

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
