import { writeSync } from 'node:fs';
import { type DestinationStream, pino, stdTimeFunctions } from 'pino';
import type { IsUuid, PublicId } from './ids.ts';
import type { LogLevel } from './settings.ts';

/** Writes log lines. Call sites log selected fields, never bodies or headers. */
export interface Logger extends Readonly<Record<Exclude<LogLevel, 'silent'>, LogMethod>> {
  isLevelEnabled(level: LogLevel): boolean;
}

/** Ids in logs are public, so that they can be compared with what customers see; a UUID does not compile. */
interface LogFields {
  attempt_id?: PublicId<'att'>;
  delivery_id?: PublicId<'dlv'>;
  event_id?: PublicId<'evt'>;
  event_ids?: readonly PublicId<'evt'>[];
  key_id?: PublicId<'key'>;
  organization_id?: PublicId<'org'>;
  webhook_id?: PublicId<'whk'>;
  [name: string]: unknown;
}

type WithoutUuids<Fields> = {
  [Name in keyof Fields]: IsUuid<NonNullable<Fields[Name]>> extends true ? never : Fields[Name];
};

interface LogMethod {
  <Fields extends LogFields>(fields: Fields & WithoutUuids<Fields>, message: string): void;
  (message: string): void;
}

/** `eyJ` is how every JWT begins: `{"` in base64. */
const secretPattern =
  /(nwk_|whsec_)[0-9A-Za-z+/=]{6,}|(Bearer +)(?!nwk_|whsec_)[\w.~+/=-]{6,}|(eyJ)[\w-]{17,}\.[\w-]{10,}\.[\w-]*/gi;
const mayHoldSecret = /nwk_|whsec_|bearer |eyJ/i;

/**
 * One JSON object per line. As a last step, the logger redacts keys, webhook secrets, bearer tokens and JWTs in the whole
 * line.
 *
 * @param destination by default standard output, through {@link LogOutput}
 */
export function createLogger(service: string, level: LogLevel, destination?: DestinationStream): Logger {
  const out =
    destination ?? openStandardOutput((dropped) => log.warn({ log_lines_dropped: dropped }, 'log lines dropped'));
  const log = pino(
    {
      base: { service },
      level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    { write: (line: string) => out.write(scrubSecrets(line)) },
  );
  return log;
}

/**
 * An error in plain values. Libraries attach whole objects to their errors: pg's pool attaches the client, 9 kB with the
 * key that cancels its statements.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const plain = Object.entries(pino.stdSerializers.err(error)).filter(([, value]) => !isObject(value));
  const all = error instanceof AggregateError ? { errors: error.errors.map(describeError) } : {};
  return { ...Object.fromEntries(plain), ...all };
}

function isObject(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** Replaces whatever looks like an API key, a webhook secret, a bearer token or a JWT; the prefix stays, to show what it was. */
export function scrubSecrets(text: string): string {
  return mayHoldSecret.test(text) ? text.replace(secretPattern, '$1$2$3[redacted]') : text;
}

/** 8 MiB, in characters: about 30,000 lines. */
const maxWaiting = 8 * 1_024 * 1_024;
/** A reader that is slow, not stalled, empties a pipe within milliseconds. */
const retryAfterMs = 20;

/**
 * Gathers the lines of one iteration of the event loop and writes them at once. Lines that the reader does not accept
 * wait in memory; beyond a limit, lines are dropped and counted. So no writer ever waits for the reader of the log.
 */
export class LogOutput {
  /** Lines dropped since the process began. */
  dropped = 0;
  readonly #write: (bytes: Uint8Array) => number;
  readonly #onResumed: (dropped: number) => void;
  #lines = '';
  /** The bytes left of the lines that are being written. */
  #bytes: Uint8Array = new Uint8Array();
  #isScheduled = false;
  #reported = 0;

  /**
   * @param write writes some of the bytes, and returns how many; throws when the reader accepts none
   * @param onResumed called when everything that waited is written, with the number of lines dropped meanwhile
   */
  constructor(write: (bytes: Uint8Array) => number, onResumed: (dropped: number) => void) {
    this.#write = write;
    this.#onResumed = onResumed;
  }

  write(line: string): void {
    if (this.#bytes.length + this.#lines.length + line.length > maxWaiting) {
      this.dropped += 1;
      return;
    }
    this.#lines += line;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#writeOrRetry());
  }

  /** Writes everything that waits before it returns, or gives up after `withinMs`. For the end of the process. */
  flushSync(withinMs: number): void {
    const until = performance.now() + withinMs;
    while (!this.#writeWaiting() && performance.now() < until) sleepSync(retryAfterMs);
  }

  #writeOrRetry(): void {
    this.#isScheduled = !this.#writeWaiting();
    if (this.#isScheduled) {
      setTimeout(() => this.#writeOrRetry(), retryAfterMs).unref();
    } else if (this.dropped > this.#reported) {
      const dropped = this.dropped - this.#reported;
      this.#reported = this.dropped;
      this.#onResumed(dropped);
    }
  }

  /** @returns whether everything is written */
  #writeWaiting(): boolean {
    try {
      while (this.#bytes.length > 0 || this.#lines !== '') {
        if (this.#bytes.length === 0) {
          this.#bytes = Buffer.from(this.#lines);
          this.#lines = '';
        }
        this.#bytes = this.#bytes.subarray(this.#write(this.#bytes));
      }
      return true;
    } catch {
      return false;
    }
  }
}

let standardOutput: LogOutput | undefined;
/** The reader gets this long for the last lines of a process that ends. */
const lastLinesWithinMs = 1_000;

/**
 * The one output of this process. Synchronous writes to a pipe that nobody reads would stop all deliveries. With pino's
 * asynchronous destination and a stalled pipe, `process.exit` never returns.
 */
function openStandardOutput(onResumed: (dropped: number) => void): LogOutput {
  if (standardOutput !== undefined) return standardOutput;
  // Node makes a pipe or socket non-blocking when this property is read for the first time.
  const { fd } = process.stdout;
  const output = new LogOutput((bytes) => writeSync(fd, bytes), onResumed);
  process.on('exit', () => output.flushSync(lastLinesWithinMs));
  standardOutput = output;
  return output;
}

/** Log lines that this process has dropped since it began. */
export function droppedLogLines(): number {
  return standardOutput?.dropped ?? 0;
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, ms);
}
