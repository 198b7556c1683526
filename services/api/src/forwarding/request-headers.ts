/** A flat list, as on the wire: name, value, name, value. */
export type RawHeaders = readonly string[];

/** Headers that concern one connection (RFC 9110, section 7.6.1), and the framing of a body, which each hop sets itself. */
export const hopByHop: ReadonlySet<string> = new Set([
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
export function connectionOptions(raw: RawHeaders): Set<string> | undefined {
  let names: Set<string> | undefined;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    if (raw[index]?.length !== 10 || raw[index]?.toLowerCase() !== 'connection') continue;
    for (const option of (raw[index + 1] as string).toLowerCase().split(',')) {
      const name = option.trim();
      if (name === '' || name === 'close' || name === 'keep-alive') continue;
      names ??= new Set();
      names.add(name);
    }
  }
  return names;
}
