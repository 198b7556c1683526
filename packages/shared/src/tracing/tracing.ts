/** What a span says about its work, by the names of OpenTelemetry's semantic conventions where they have one. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer';

export interface SpanStart {
  kind: SpanKind;
  /** The span above it, from `parseTraceparent`. Without one, a trace begins. */
  parent?: string | undefined;
  /** Spans of other traces that it belongs to, from `parseTraceparent`. */
  links?: readonly string[];
  attributes?: SpanAttributes;
  /** Of a span that began before: milliseconds since 1970. */
  startedAtMs?: number;
}

export interface SpanEnd {
  /** Better than the one that it began with. */
  name?: string;
  attributes?: SpanAttributes;
  /** Why the work failed: a code of few values. Without it, it did not fail. */
  error?: string | undefined;
}

/** A piece of work, as a trace shows it. One that is never ended is not recorded. */
export interface Span {
  /** What others who continue the trace are told (W3C's `traceparent`). */
  readonly traceparent: string;
  readonly traceId: string;
  end(outcome?: SpanEnd): void;
}

/** Records spans, and sends them away in the background. Undefined stands for it where nothing is recorded. */
export interface Tracing {
  start(name: string, start: SpanStart): Span;
  /** Sends what is left, for at most a second. */
  stop(): Promise<void>;
}

/** What the conventions of HTTP spans call a failure: 5xx for a server, 4xx as well for a client. */
export function errorOfStatus(status: number, isServer: boolean): string | undefined {
  return status >= (isServer ? 500 : 400) ? String(status) : undefined;
}
