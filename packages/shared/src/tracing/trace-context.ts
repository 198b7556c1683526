/** In characters. Exceeds the length of version 00, because a later version of the header may be longer. */
export const longestTraceparent = 256;

/** The standard forbids version `ff` and all-zero ids. */
const form = /^(?!ff)([0-9a-f]{2})-(?!0+-)([0-9a-f]{32})-(?!0+-)([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** The flags `sampled` and `random-trace-id`. */
const knownFlags = 0x03;

/**
 * Parses the header `traceparent` of W3C Trace Context: the trace, the parent span, and whether the trace is recorded.
 * The result is stored and passed on as text.
 *
 * @returns the context as version 00 with only the known flags, whatever version the header has; undefined if the
 *   header is not valid
 */
export function parseTraceparent(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > longestTraceparent) return undefined;
  const [, version, traceId, spanId, flags = '', rest] = form.exec(text) ?? [];
  if (version === undefined || (version === '00' && rest !== undefined)) return undefined;
  return `00-${traceId}-${spanId}-0${Number.parseInt(flags, 16) & knownFlags}`;
}

/** @param traceparent from {@link parseTraceparent} */
export function traceIdOf(traceparent: string): string {
  return traceparent.split('-')[1] ?? '';
}

/**
 * True if services that continue the trace should record it.
 *
 * @param traceparent from {@link parseTraceparent}
 */
export function isSampled(traceparent: string): boolean {
  return Number(traceparent.at(-1)) % 2 === 1;
}
