import type { Sampler } from '@opentelemetry/sdk-trace';
import { newUuid } from '../runtime/ids.ts';
import { createLimitedWarning } from '../runtime/limited-warning.ts';
import type { Logger } from '../runtime/logger.ts';
import { Counter, type Registry } from '../runtime/metrics.ts';
import { version } from '../runtime/version.ts';
import type { TracingConfig } from './settings.ts';
import { createSpanQueue } from './span-queue.ts';
import { isSampled } from './trace-context.ts';

/** Attribute names follow OpenTelemetry's semantic conventions where these define a name. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer';

export interface SpanStart {
  kind: SpanKind;
  /** The parent span, from `parseTraceparent`. Without a parent, a new trace begins. */
  parent?: string | undefined;
  /** Related spans of other traces, from `parseTraceparent`. */
  links?: readonly string[];
  attributes?: SpanAttributes;
  /** For a span that began earlier: milliseconds since 1970. */
  startedAtMs?: number;
}

export interface SpanEnd {
  name?: string;
  attributes?: SpanAttributes;
  /** Why the work failed: a code from a small set. Undefined if it succeeded. */
  error?: string | undefined;
}

/** A piece of work in a trace. A span that never ends is not recorded. */
export interface Span {
  /** The W3C `traceparent` to pass to services that continue the trace. */
  readonly traceparent: string;
  readonly traceId: string;
  end(outcome?: SpanEnd): void;
}

/** Records spans and exports them in the background. */
export interface Tracing {
  start(name: string, start: SpanStart): Span;
  /** Exports the remaining spans, for at most a second. */
  stop(): Promise<void>;
}

export interface OpenTracingOptions {
  /** The fallback for OTEL_SERVICE_NAME. */
  serviceName: string;
  log: Logger;
  registry: Registry;
}

/**
 * Starts recording spans if `config` is set. Loads OpenTelemetry's packages only in that case, because loading takes
 * 0.1 s and 20 MB.
 *
 * @returns undefined if no spans are recorded
 */
export async function openTracing(
  config: TracingConfig | undefined,
  { serviceName, log, registry }: OpenTracingOptions,
): Promise<Tracing | undefined> {
  const counters = createCounters(registry);
  if (config === undefined) return undefined;
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await load();
  const warn = createLimitedWarning(log, 'spans dropped', 60 * 1_000);
  const queue = createSpanQueue(sdk, {
    exporter: new OTLPTraceExporter({ url: config.url, headers: config.headers, timeoutMillis: config.timeoutMs }),
    giveUpAfterMs: config.timeoutMs,
    onExported: (spans) => counters.exported.inc(spans),
    onDropped: (reason, spans, error) => {
      counters.dropped.inc({ reason }, spans);
      // Log only the error's message: the error may contain the collector's response.
      warn(undefined, { reason, ...(error !== undefined && { error: error.message }) });
    },
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      'service.version': version,
      'service.instance.id': newUuid(),
      ...config.attributes,
      'service.name': config.serviceName ?? config.attributes['service.name'] ?? serviceName,
    }),
    sampler: samplerOf(config, sdk),
    spanProcessors: [queue],
  });
  return { ...createStart(provider.getTracer('enterprise-api', version), api), stop: () => queue.shutdown() };
}

function load() {
  return Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
}

type Api = typeof import('@opentelemetry/api');
type Sdk = typeof import('@opentelemetry/sdk-trace');

function samplerOf({ sampler: name, ratio }: TracingConfig, sdk: Sdk): Sampler {
  const roots: Record<string, () => Sampler> = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  };
  const root = (roots[name.replace('parentbased_', '')] as () => Sampler)();
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}

function createStart(tracer: import('@opentelemetry/api').Tracer, api: Api): Pick<Tracing, 'start'> {
  const { ROOT_CONTEXT, SpanKind, trace } = api;
  const kinds = {
    server: SpanKind.SERVER,
    client: SpanKind.CLIENT,
    producer: SpanKind.PRODUCER,
    consumer: SpanKind.CONSUMER,
  };
  return {
    start: (name, { kind, parent, links = [], attributes, startedAtMs }) => {
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, toSpanContext(parent));
      const options = {
        kind: kinds[kind],
        links: links.map((link) => ({ context: toSpanContext(link) })),
        ...(attributes !== undefined && { attributes: attributes as Record<string, string> }),
        ...(startedAtMs !== undefined && { startTime: startedAtMs }),
      };
      return toSpan(tracer.startSpan(name, options, context), api);
    },
  };
}

function toSpanContext(traceparent: string) {
  const [, traceId = '', spanId = ''] = traceparent.split('-');
  return { traceId, spanId, traceFlags: isSampled(traceparent) ? 1 : 0, isRemote: true };
}

function toSpan(span: import('@opentelemetry/api').Span, { SpanStatusCode }: Api): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceparent: `00-${traceId}-${spanId}-0${traceFlags}`,
    traceId,
    end: ({ name, attributes, error }: SpanEnd = {}) => {
      if (!span.isRecording()) return;
      if (name !== undefined) span.updateName(name);
      if (attributes !== undefined) span.setAttributes(attributes as Record<string, string>);
      if (error !== undefined) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function createCounters(registry: Registry) {
  const registers = [registry];
  const exported = new Counter({
    name: 'trace_spans_exported_total',
    help: 'Spans that the collector has accepted.',
    registers,
  });
  const dropped = new Counter({
    name: 'trace_spans_dropped_total',
    help: 'Spans that were not sent (queue_full), or that the collector did not accept (not_exported).',
    labelNames: ['reason'],
    registers,
  });
  return { exported, dropped };
}

/** The error code of an HTTP span. By OpenTelemetry's conventions, servers fail with 5xx, clients also with 4xx. */
export function errorOfStatus(status: number, isServer: boolean): string | undefined {
  return status >= (isServer ? 500 : 400) ? String(status) : undefined;
}
