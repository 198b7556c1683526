import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { settledWithin, withTimeout } from '../runtime/timeout.ts';

type DropReason = 'queue_full' | 'not_exported';

export interface SpanQueueOptions {
  exporter: Pick<SpanExporter, 'export' | 'shutdown'>;
  /** An export request counts as failed after this time, whatever the exporter reports later. */
  giveUpAfterMs: number;
  onExported: (spans: number) => void;
  /** @param error the exporter's error, if it reported one */
  onDropped: (reason: DropReason, spans: number, error?: Error) => void;
}

/** Number of spans, a few megabytes. The queue drops further spans, so that no work waits for a collector. */
const maxWaiting = 4_096;
const maxPerRequest = 512;
const exportEveryMs = 1_000;
const flushWithinMs = 1_000;

/**
 * Queues spans for the collector, with one export request at a time. OpenTelemetry's own queue drops excess spans
 * without counting them. Its stop waits 30 s for a collector that hangs.
 */
export class SpanQueue implements SpanProcessor {
  readonly #options: SpanQueueOptions;
  #waiting: ReadableSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #exporting: Promise<void> | undefined;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  onStart(): void {
    // The queue takes spans only when they end.
  }

  onEnd(span: ReadableSpan): void {
    // Unsampled spans never reach this method.
    if (this.#waiting.length >= maxWaiting) return this.#options.onDropped('queue_full', 1);
    this.#waiting.push(span);
    if (this.#waiting.length >= maxPerRequest) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), exportEveryMs).unref();
  }

  async forceFlush(): Promise<void> {
    this.#start();
    await this.#exporting;
  }

  /** Exports the remaining spans for at most a second, and then drops the rest. */
  async shutdown(): Promise<void> {
    await settledWithin(this.forceFlush(), flushWithinMs);
    const left = this.#waiting.splice(0).length;
    if (left > 0) this.#options.onDropped('not_exported', left);
    // Do not await the exporter's shutdown, because it waits for requests that hang.
    this.#options.exporter.shutdown().catch(() => undefined);
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#exporting ??= this.#exportAll().finally(() => {
      this.#exporting = undefined;
    });
  }

  async #exportAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.splice(0, maxPerRequest);
      const error = await this.#export(spans);
      if (error === undefined) this.#options.onExported(spans.length);
      else this.#options.onDropped('not_exported', spans.length, error);
    }
  }

  async #export(spans: ReadableSpan[]): Promise<Error | undefined> {
    const { exporter, giveUpAfterMs } = this.#options;
    const exported = new Promise<Error | undefined>((resolve) => {
      exporter.export(spans, ({ code, error }) => resolve(code === 0 ? undefined : (error ?? new Error('refused'))));
    });
    try {
      return await withTimeout(exported, giveUpAfterMs, () => new Error('no answer in time'));
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}
