import type { IncomingMessage } from 'node:http';

/** Whether the head of a request announces a body. A chunked body may turn out to be empty. */
export function announcesBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || declaredLength(request) > 0;
}

/** `Content-Length`; 0 without it. */
export function declaredLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

/** Whether the client waits for `100 Continue` before it sends its body. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return request.httpVersion === '1.1' && /^100-continue$/i.test(request.headers.expect ?? '');
}
