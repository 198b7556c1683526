import { parseTraceparent } from '../tracing/index.ts';
import type { EmitOptions } from './queue-producer.ts';

type OpenTelemetryApi = typeof import('@opentelemetry/api');

/** Loaded at the first event. Optional, because a caller may not have OpenTelemetry installed. */
let openTelemetry: Promise<OpenTelemetryApi | undefined> | undefined;

/** Returns the trace that the producer names, or else the active trace of its process. */
export async function traceparentOf({ traceparent }: Pick<EmitOptions, 'traceparent'>): Promise<string | undefined> {
  if (traceparent !== undefined) return parseTraceparent(traceparent);
  openTelemetry ??= import('@opentelemetry/api').catch(() => undefined);
  const context = (await openTelemetry)?.trace.getActiveSpan()?.spanContext();
  if (context === undefined) return undefined;
  const flags = context.traceFlags.toString(16).padStart(2, '0');
  return parseTraceparent(`00-${context.traceId}-${context.spanId}-${flags}`);
}
