import type { SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { settledWithin } from '../runtime/timeout.ts';

type DropReason = 'queue_full' | 'not_exported';

export interface SpanQueueOptions {
  exporter: Pick<SpanExporter, 'export' | 'shutdown'>;
  /** The queue sends its next request after this time, even if the last request has no answer. */
  giveUpAfterMs: number;
  onExported: (spans: number) => void;
  /** @param error the exporter's error, if it reported one */
  onDropped: (reason: DropReason, spans: number, error?: Error) => void;
}

/** Maximum number of spans, a few megabytes. The queue drops further spans, so that no work waits for a collector. */
const maxPending = 4_096;
const exportEveryMs = 1_000;
const flushWithinMs = 1_000;

/** Adds to OpenTelemetry's queue counts of spans, and a time limit for the stop. */
export function createSpanQueue(
  { BatchSpanProcessor }: Pick<typeof import('@opentelemetry/sdk-trace'), 'BatchSpanProcessor'>,
  { exporter, giveUpAfterMs, onExported, onDropped }: SpanQueueOptions,
): SpanProcessor {
  let pending = 0;
  const queue = new BatchSpanProcessor({
    exporter: {
      export: (spans, report) =>
        exporter.export(spans, (result) => {
          pending -= spans.length;
          if (result.code === 0) onExported(spans.length);
          else onDropped('not_exported', spans.length, result.error);
          report(result);
        }),
      shutdown: () => exporter.shutdown(),
    },
    maxQueueSize: maxPending,
    scheduledDelayMillis: exportEveryMs,
    exportTimeoutMillis: giveUpAfterMs,
  });
  return {
    onStart: () => undefined,
    onEnd: (span) => {
      if (pending >= maxPending) return onDropped('queue_full', 1);
      pending += 1;
      queue.onEnd(span);
    },
    forceFlush: () => queue.forceFlush(),
    /** Exports the remaining spans for at most a second, and then drops the rest. */
    shutdown: async () => {
      await settledWithin(queue.shutdown(), flushWithinMs);
      if (pending > 0) onDropped('not_exported', pending);
    },
  };
}
