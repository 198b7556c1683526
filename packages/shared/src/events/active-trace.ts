import { type Kysely, sql } from 'kysely';
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

/** Whether the ledger keeps traces. One that was not migrated yet would refuse the event, and end its producer's transaction. */
export type TraceCheck = <DB>(db: Kysely<DB>) => Promise<boolean>;

/** Asks until the answer is yes: it stays so. */
export function createTraceCheck(): TraceCheck {
  let isKnown = false;
  return async (db) => {
    if (isKnown) return true;
    const { rows } = await sql`select from pg_attribute
      where attrelid = to_regclass('events') and attname = 'traceparent' and not attisdropped`.execute(db);
    isKnown = rows.length > 0;
    return isKnown;
  };
}
