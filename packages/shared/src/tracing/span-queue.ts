import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { settledWithin, withTimeout } from '../runtime/timeout.ts';

/** Why spans were dropped. */
type DropReason = 'queue_full' | 'not_exported';

export interface SpanQueueOptions {
  exporter: Pick<SpanExporter, 'export' | 'shutdown'>;
  /** After which a request counts as failed, whatever the exporter says. */
  giveUpAfterMs: number;
  onExported: (spans: number) => void;
  /** @param error what the exporter said, where it said something */
  onDropped: (reason: DropReason, spans: number, error?: Error) => void;
}

/** Spans that wait at most; a few megabytes. Further ones are dropped: nothing waits for a collector. */
const maxWaiting = 4_096;
const maxPerRequest = 512;
const exportEveryMs = 1_000;
/** How long a stop waits for the spans that are left. */
const flushWithinMs = 1_000;

/**
 * The spans that wait for the collector. One request is under way at a time. OpenTelemetry's own queue drops what is too
 * much without saying how much that was, and its stop waits half a minute for a collector that hangs.
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
    // Spans are interesting once they have ended.
  }

  onEnd(span: ReadableSpan): void {
    // An unsampled span is not recorded, and does not come here.
    if (this.#waiting.length >= maxWaiting) return this.#options.onDropped('queue_full', 1);
    this.#waiting.push(span);
    if (this.#waiting.length >= maxPerRequest) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), exportEveryMs).unref();
  }

  async forceFlush(): Promise<void> {
    this.#start();
    await this.#exporting;
  }

  /** Sends what is left, for at most a second; what is left then is dropped. */
  async shutdown(): Promise<void> {
    await settledWithin(this.forceFlush(), flushWithinMs);
    const left = this.#waiting.splice(0).length;
    if (left > 0) this.#options.onDropped('not_exported', left);
    // It waits for requests that hang.
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
