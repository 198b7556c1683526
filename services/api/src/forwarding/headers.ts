/** A flat list, as on the wire: name, value, name, value. */
type RawHeaders = readonly string[];

/** Headers that concern one connection (RFC 9110, section 7.6.1), and the framing of a body, which each hop sets itself. */
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

/** Set anew for the upstream, answered here, or the client's credentials, which are for us alone. */
const replaced = new Set(['host', 'content-length', 'expect', 'authorization', 'cookie', 'x-request-id']);

/** W3C Trace Context and Baggage, and what other tracers read instead: an upstream would take them for parts of our trace. */
const traceHeaders = /^(?:traceparent|tracestate|baggage|b3|x-b3-.*|uber-trace-id|x-cloud-trace-context)$/;

/** What an upstream trusts because only we can set it. */
const reserved = /^(?:forwarded$|x-(?:forwarded|organization|api-key|identity)-|(?:x-real|true-client|x-client)-ip$)/;

/**
 * The client's headers that go on to the upstream, in their order and as they were written: end-to-end ones, without
 * credentials, and without any that an upstream would take for ours.
 *
 * @param raw name, value, name, value … as received
 * @param ownTrace whether the upstream is told of a trace of ours: then not of the client's
 */
export function headersToPass(raw: RawHeaders, ownTrace = false): string[] {
  const nominated = connectionOptions(raw);
  const passed: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] as string;
    // Servers that keep headers in variables (CGI, WSGI, Rack) read `_` and `-` as the same; lighttpd and older versions
    // of Apache read every character that is no letter or digit so.
    const read = name.toLowerCase().replace(/[^a-z0-9]/g, '-');
    if (hopByHop.has(read) || replaced.has(read) || reserved.test(read) || nominated?.has(name.toLowerCase())) continue;
    if (ownTrace && traceHeaders.test(read)) continue;
    passed.push(name, raw[index + 1] as string);
  }
  return passed;
}

/** The names that `Connection` makes hop-by-hop, in lower case; undefined when there are none beside the usual ones. */
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
const ownLowerCase = new Set<string>(ownNames.map((name) => name.toLowerCase()));

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
    if (hopByHop.has(read) || removed.has(read) || ownLowerCase.has(read) || proxyOrders.test(read)) continue;
    // The framing is ours, whatever `Connection` says about it. A 204 must not have a length (RFC 9110, section 8.6).
    if (read === 'content-length' ? status === 204 : nominated?.has(read)) continue;
    if (read === 'cache-control') hasCacheControl = true;
    headers.push(name, value);
  }
  for (const name of ownNames) if (own[name] !== undefined) headers.push(name, own[name]);
  if (!hasCacheControl) headers.push('Cache-Control', 'no-store');
  return headers;
}
