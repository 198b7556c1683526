/** The flags that are known: sampled, and that the trace id is random. */
const knownFlags = 0x03;
const sampledFlag = 0x01;

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** In characters. A later version of the form may be longer than this one. */
export const longestTraceparent = 256;
const noTrace = '0'.repeat(32);
const noSpan = '0'.repeat(16);

/**
 * The context of a trace as W3C Trace Context writes it in the header `traceparent`: the trace, the span that comes next
 * above, and whether the trace is recorded. It is kept and passed on in this form.
 *
 * @returns it in the form of version 00, whatever version it came in, without flags that nobody knows; undefined when it is
 *   not a context
 */
export function parseTraceparent(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > longestTraceparent) return undefined;
  const [, version, traceId, spanId, flags = '', rest] = form.exec(text) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (traceId === noTrace || spanId === noSpan) return undefined;
  return `00-${traceId}-${spanId}-0${Number.parseInt(flags, 16) & knownFlags}`;
}

/** @param traceparent from {@link parseTraceparent} */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}

/** @param traceparent from {@link parseTraceparent} */
export function spanIdOf(traceparent: string): string {
  return traceparent.slice(36, 52);
}

/** Whether those who continue the trace should record it. */
export function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(53), 16) & sampledFlag) !== 0;
}
