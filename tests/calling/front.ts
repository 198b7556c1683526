import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type HttpAnswer, sendRequest } from '@enterprise-api/testkit';

/** A request that came through, and the answer of the API behind; null when it was refused at the front. */
interface PassedRequest {
  method: string;
  path: string;
  idempotencyKey: string | undefined;
  /** Milliseconds, monotonic. */
  at: number;
  answer: HttpAnswer | null;
}

export interface Front extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly PassedRequest[];
}

/** The first repetition of the libraries comes after two at most, when it ignores this. */
export const retryAfterSeconds = 3;

const busy = JSON.stringify({
  error: { type: 'rate_limit_error', code: 'rate_limited', message: 'Too many requests.', request_id: 'req_front' },
});

/**
 * A server before the API that treats clients as a bad day does: it refuses the first GET with 429, and hands the first
 * POST on but answers 503 in the place of the API. Both ask for more patience than clients have by themselves.
 */
export async function startFront(apiUrl: string): Promise<Front> {
  const requests: PassedRequest[] = [];
  const pass = async (request: IncomingMessage): Promise<[status: number, answer: HttpAnswer | null]> => {
    const { method = '', url: path = '' } = request;
    const isFirst = !requests.some((each) => each.method === method);
    const passed: PassedRequest = {
      method,
      path,
      idempotencyKey: request.headers['idempotency-key']?.toString(),
      at: performance.now(),
      answer: null,
    };
    requests.push(passed);
    const body = await text(request);
    if (isFirst && method === 'GET') return [429, null];
    passed.answer = await sendRequest({
      method,
      url: apiUrl + path,
      headers: forwarded(request),
      body: body || undefined,
    });
    return isFirst ? [503, null] : [passed.answer.status, passed.answer];
  };
  const server = createServer((request, response) => {
    pass(request).then(
      ([status, answer]) => send(response, status, answer),
      () => response.destroy(),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: close,
  };
}

function forwarded({ headers }: IncomingMessage): Record<string, string> {
  const names = ['authorization', 'content-type', 'idempotency-key'];
  return Object.fromEntries(names.flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : [])));
}

function send(response: ServerResponse, status: number, answer: HttpAnswer | null): void {
  const requestId = answer?.headers['x-request-id'] ?? 'req_front';
  const headers = { 'content-type': 'application/json', 'x-request-id': requestId };
  response.writeHead(status, { ...headers, ...(answer === null && { 'retry-after': String(retryAfterSeconds) }) });
  response.end(answer?.text ?? busy);
}
