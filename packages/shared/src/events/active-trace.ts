import { parseTraceparent } from '../tracing/index.ts';
import type { EmitOptions } from './queue-producer.ts';

type OpenTelemetryApi = typeof import('@opentelemetry/api');

/** Loaded at the first use. Undefined if the caller has not installed OpenTelemetry. */
let openTelemetry: Promise<OpenTelemetryApi | undefined> | undefined;

/**
 * Returns the trace in the options, or undefined if that trace is invalid. If the options contain no trace, returns the
 * active trace of this process.
 */
export async function traceparentOf({ traceparent }: Pick<EmitOptions, 'traceparent'>): Promise<string | undefined> {
  if (traceparent !== undefined) return parseTraceparent(traceparent);
  openTelemetry ??= import('@opentelemetry/api').catch(() => undefined);
  const context = (await openTelemetry)?.trace.getActiveSpan()?.spanContext();
  if (context === undefined) return undefined;
  const flags = context.traceFlags.toString(16).padStart(2, '0');
  return parseTraceparent(`00-${context.traceId}-${context.spanId}-${flags}`);
}
