/** In characters. A later version of the header may be longer than this one. */
export const longestTraceparent = 256;

/** Version `ff` and all-zero ids are forbidden. */
const form = /^(?!ff)([0-9a-f]{2})-(?!0+-)([0-9a-f]{32})-(?!0+-)([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Sampled, and random trace id. */
const knownFlags = 0x03;

/**
 * Parses the header `traceparent` of W3C Trace Context: the trace, the parent span, and whether the trace is recorded.
 * The result is stored and passed on as text.
 *
 * @returns the context in version 00 with only known flags, whatever its version; undefined if the text is no valid
 *   context
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
