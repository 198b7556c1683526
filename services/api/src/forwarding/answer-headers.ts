import { connectionOptions, hopByHop } from './request-headers.ts';

/** They name the upstream's software, or would keep state in a client that we know by its key alone. */
const removed = new Set(['set-cookie', 'server', 'x-powered-by']);

/** Orders to a proxy: an ingress in front of us would send a file or another address's answer in place of this one. */
const proxyOrders = /^x-(?:accel-|sendfile$|lighttpd-send-file$)/;

/** What we say about each request ourselves, in place of whatever the upstream says under these names. */
const ownNames = [
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Connection',
] as const;
const replaced = new Set<string>(ownNames.map((name) => name.toLowerCase()));

/**
 * The headers of the answer to the client: the upstream's, in their order and as written, less hop-by-hop ones and those
 * about its software; ours in place of its own; and `Cache-Control: no-store` where the upstream says nothing.
 *
 * @param raw name, value, name, value … as received from the upstream
 * @param own the headers that every answer to this request has
 * @returns a flat list for `writeHead`; null when the body has a transfer coding that this hop would have to undo
 */
export function answerHeaders(
  raw: readonly (Buffer | string | readonly (Buffer | string)[])[],
  status: number,
  own: Readonly<Record<string, string>>,
): string[] | null {
  const received = raw.map((text) => (typeof text === 'string' ? text : (text as Buffer).toString('latin1')));
  const nominated = connectionOptions(received);
  const headers: string[] = [];
  let hasCacheControl = false;
  for (let index = 0; index + 1 < received.length; index += 2) {
    const name = received[index] as string;
    const value = received[index + 1] as string;
    const read = name.toLowerCase();
    if (read === 'transfer-encoding' && value.trim().toLowerCase() !== 'chunked') return null;
    if (hopByHop.has(read) || removed.has(read) || replaced.has(read) || proxyOrders.test(read)) continue;
    // The framing is ours, whatever `Connection` says about it. A 204 must not have a length (RFC 9110, section 8.6).
    if (read === 'content-length' ? status === 204 : nominated?.has(read)) continue;
    if (read === 'cache-control') hasCacheControl = true;
    headers.push(name, value);
  }
  for (const name of ownNames) if (own[name] !== undefined) headers.push(name, own[name]);
  if (!hasCacheControl) headers.push('Cache-Control', 'no-store');
  return headers;
}
