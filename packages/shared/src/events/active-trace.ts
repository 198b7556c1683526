import { parseTraceparent } from '../tracing/index.ts';
import type { EmitOptions } from './queue-producer.ts';

type OpenTelemetryApi = typeof import('@opentelemetry/api');

/** Optional: a caller without OpenTelemetry need not have it. Loaded for the first event. */
let openTelemetry: Promise<OpenTelemetryApi | undefined> | undefined;

/** The trace that a producer's events belong to: the one that it names, or else the one that is active in its process. */
export async function traceparentOf({ traceparent }: Pick<EmitOptions, 'traceparent'>): Promise<string | undefined> {
  if (traceparent !== undefined) return parseTraceparent(traceparent);
  openTelemetry ??= import('@opentelemetry/api').catch(() => undefined);
  const context = (await openTelemetry)?.trace.getActiveSpan()?.spanContext();
  if (context === undefined) return undefined;
  const flags = context.traceFlags.toString(16).padStart(2, '0');
  return parseTraceparent(`00-${context.traceId}-${context.spanId}-${flags}`);
}
