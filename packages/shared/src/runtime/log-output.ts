import { writeSync } from 'node:fs';
import { backoffMs } from './backoff.ts';

/** Takes log lines without ever making their writers wait for the reader of the log. */
export interface LogOutput {
  write(line: string): void;
  /** Writes everything that waits before it returns, or gives up after `withinMs`. For the end of the process. */
  flushSync(withinMs: number): void;
  /** Lines that were left out because too many waited. */
  readonly dropped: number;
}

export interface LogOutputOptions {
  /** Writes some of the bytes. @returns how many @throws when none can be written now (EAGAIN) or at all (EPIPE) */
  write: (bytes: Uint8Array) => number;
  /** How many characters of lines may wait: by default about 30,000 lines. */
  maxWaiting?: number;
  /** Called when everything that waited is written, with the number of lines that were left out. */
  onResumed: (dropped: number) => void;
}

const eightMebibytes = 8 * 1_024 * 1_024;
/** A reader that is slow, not stalled, empties a pipe within milliseconds. */
const retryMs = { firstMs: 10, mostMs: 200 };

/**
 * Gathers the lines of one turn of the event loop and writes them at once. What the reader does not accept waits in
 * memory; beyond the limit, lines are left out and counted.
 */
export function createLogOutput(options: LogOutputOptions): LogOutput {
  return new WaitingLines(options);
}

class WaitingLines implements LogOutput {
  dropped = 0;
  readonly #options: LogOutputOptions;
  readonly #maxWaiting: number;
  #lines: string[] = [];
  /** Lines that are being written, without the bytes that are. */
  #chunk = Buffer.alloc(0);
  #chunkLength = 0;
  #linesLength = 0;
  #isScheduled = false;
  #failures = 0;
  #unreported = 0;

  constructor(options: LogOutputOptions) {
    this.#options = options;
    this.#maxWaiting = options.maxWaiting ?? eightMebibytes;
  }

  write(line: string): void {
    if (this.#chunkLength + this.#linesLength + line.length > this.#maxWaiting) {
      this.dropped += 1;
      this.#unreported += 1;
      return;
    }
    this.#lines.push(line);
    this.#linesLength += line.length;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#writeOrRetry());
  }

  flushSync(withinMs: number): void {
    const until = performance.now() + withinMs;
    while (!this.#writeWaiting() && performance.now() < until) sleepSync(retryMs.firstMs);
  }

  #writeOrRetry(): void {
    if (this.#writeWaiting()) {
      this.#isScheduled = false;
      this.#reportDropped();
    } else {
      setTimeout(() => this.#writeOrRetry(), backoffMs(this.#failures, retryMs)).unref();
    }
  }

  /** @returns whether nothing waits any more */
  #writeWaiting(): boolean {
    try {
      while (this.#nextChunk()) {
        this.#chunk = this.#chunk.subarray(this.#options.write(this.#chunk));
        this.#failures = 0;
      }
      return true;
    } catch {
      this.#failures += 1;
      return false;
    }
  }

  #nextChunk(): boolean {
    if (this.#chunk.length > 0) return true;
    this.#chunk = Buffer.from(this.#lines.join(''));
    this.#chunkLength = this.#linesLength;
    this.#lines = [];
    this.#linesLength = 0;
    return this.#chunk.length > 0;
  }

  #reportDropped(): void {
    if (this.#unreported === 0) return;
    const dropped = this.#unreported;
    this.#unreported = 0;
    this.#options.onResumed(dropped);
  }
}

let standardOutput: LogOutput | undefined;
/** The reader gets this long for the last lines of a process that ends. */
const lastLinesWithinMs = 1_000;

/**
 * The one output of this process. Synchronous writes to a pipe that is not read would stop the process, and with it all
 * deliveries. pino's asynchronous destination is no way out: with a stalled pipe `process.exit` never returns.
 */
export function openStandardOutput(onResumed: (dropped: number) => void): LogOutput {
  if (standardOutput !== undefined) return standardOutput;
  // Node makes a pipe or socket non-blocking when this property is read for the first time.
  const { fd } = process.stdout;
  const output = createLogOutput({ write: (bytes) => writeSync(fd, bytes), onResumed });
  process.on('exit', () => output.flushSync(lastLinesWithinMs));
  standardOutput = output;
  return output;
}

/** Log lines that this process could not write since it began. */
export function droppedLogLines(): number {
  return standardOutput?.dropped ?? 0;
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
