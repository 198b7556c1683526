/** In characters. A later version of the header may be longer than this one. */
export const longestTraceparent = 256;

/** Version `ff` is forbidden, and so are ids of zeros alone. */
const form = /^(?!ff)([0-9a-f]{2})-(?!0+-)([0-9a-f]{32})-(?!0+-)([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Sampled, and that the trace id is random. */
const knownFlags = 0x03;

/**
 * The context of a trace as W3C Trace Context writes it in the header `traceparent`: the trace, the parent span, and whether
 * the trace is recorded. It is kept and passed on in this form.
 *
 * @returns it in the form of version 00, whatever its version, with known flags alone; undefined when it is not a context
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

/** Whether those who continue the trace should record it. @param traceparent from {@link parseTraceparent} */
export function isSampled(traceparent: string): boolean {
  return Number(traceparent.at(-1)) % 2 === 1;
}
