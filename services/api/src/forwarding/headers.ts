type RawHeaders = readonly string[];

/**
 * Headers that concern one connection only (RFC 9110, section 7.6.1), or frame the body. Each hop sets its own framing.
 */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** Headers that we set for the upstream or handle ourselves, and the client's credentials, which only we may see. */
const replaced = new Set(['host', 'content-length', 'expect', 'authorization', 'cookie', 'x-request-id']);

/** W3C Trace Context, Baggage and other tracers' headers. An upstream would read them as parts of our trace. */
const traceHeaders = /^(?:traceparent|tracestate|baggage|b3|x-b3-.*|uber-trace-id|x-cloud-trace-context)$/;

/** Headers that upstreams trust because only we can set them. */
const reserved = /^(?:forwarded$|x-(?:forwarded|organization|api-key|identity)-|(?:x-real|true-client|x-client)-ip$)/;

/**
 * Selects the client's headers for the upstream, in their order and spelling. Drops hop-by-hop headers, credentials,
 * and headers that an upstream would read as ours.
 *
 * @param raw name, value, name, value … as received
 * @param ownTrace if true, drops the client's trace headers, because the upstream gets ours
 */
export function headersToPass(raw: RawHeaders, ownTrace = false): string[] {
  const nominated = connectionOptions(raw);
  const passed: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] as string;
    // Servers that keep headers in variables (CGI, WSGI, Rack) do not distinguish `_` and `-`. For lighttpd and older
    // versions of Apache, this applies to every character that is neither a letter nor a digit.
    const read = name.toLowerCase().replace(/[^a-z0-9]/g, '-');
    if (hopByHop.has(read) || replaced.has(read) || reserved.test(read) || nominated?.has(name.toLowerCase())) continue;
    if (ownTrace && traceHeaders.test(read)) continue;
    passed.push(name, raw[index + 1] as string);
  }
  return passed;
}

/** The names that `Connection` makes hop-by-hop, in lower case. Undefined if there are no such names. */
function connectionOptions(raw: RawHeaders): Set<string> | undefined {
  let names: Set<string> | undefined;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    if (raw[index]?.toLowerCase() !== 'connection') continue;
    for (const option of (raw[index + 1] as string).toLowerCase().split(',')) {
      const name = option.trim();
      if (name === '' || name === 'close' || name === 'keep-alive') continue;
      names ??= new Set();
      names.add(name);
    }
  }
  return names;
}

/**
 * Headers that name the upstream's software or store cookies. Clients need no cookies: the API key alone identifies
 * them.
 */
const removed = new Set(['set-cookie', 'server', 'x-powered-by']);

/** Commands to a proxy: an ingress in front of us would send a file or another address's answer instead. */
const proxyOrders = /^x-(?:accel-|sendfile$|lighttpd-send-file$)/;

/** Headers that we set ourselves. The upstream's values for them are dropped. */
const ownNames = [
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Connection',
] as const;
const ownLowerCase = new Set<string>(ownNames.map((name) => name.toLowerCase()));

/**
 * Builds the headers of the answer to the client. Keeps the upstream's order and spelling. Drops hop-by-hop headers and
 * headers about the upstream's software, cookies and commands to proxies. Replaces the headers that we set ourselves.
 * If the upstream sets no `Cache-Control`, adds `Cache-Control: no-store`.
 *
 * @param raw name, value, name, value … as received from the upstream
 * @param own headers that we add to every answer to this request
 * @returns a flat list for `writeHead`; null if the body has a transfer coding that we would have to decode
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
    if (hopByHop.has(read) || removed.has(read) || ownLowerCase.has(read) || proxyOrders.test(read)) continue;
    // Keep `Content-Length` even if `Connection` names it, because it frames our answer. A 204 must not have this
    // header (RFC 9110, section 8.6).
    if (read === 'content-length' ? status === 204 : nominated?.has(read)) continue;
    if (read === 'cache-control') hasCacheControl = true;
    headers.push(name, value);
  }
  for (const name of ownNames) if (own[name] !== undefined) headers.push(name, own[name]);
  if (!hasCacheControl) headers.push('Cache-Control', 'no-store');
  return headers;
}
