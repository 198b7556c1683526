import { writeSync } from 'node:fs';
import { type DestinationStream, pino, stdTimeFunctions } from 'pino';
import type { PublicId } from './ids.ts';
import type { LogLevel } from './settings.ts';

/** Callers log selected fields, never bodies or headers. */
export interface Logger extends Readonly<Record<Exclude<LogLevel, 'silent'>, LogMethod>> {
  isLevelEnabled(level: LogLevel): boolean;
}

/** Logs public ids, because customers see the same ids. The compiler refuses a UUID here. */
interface LogFields {
  attempt_id?: PublicId<'att'> | undefined;
  delivery_id?: PublicId<'dlv'> | undefined;
  event_id?: PublicId<'evt'> | undefined;
  event_ids?: readonly PublicId<'evt'>[] | undefined;
  key_id?: PublicId<'key'> | undefined;
  organization_id?: PublicId<'org'> | undefined;
  webhook_id?: PublicId<'whk'> | undefined;
  [name: string]: unknown;
}

interface LogMethod {
  (fields: LogFields, message: string): void;
  (message: string): void;
}

/** Every JWT begins with `eyJ`, which is `{"` in base64. */
const secretPattern =
  /(nwk_|whsec_)[0-9A-Za-z+/=]{6,}|(Bearer +)(?!nwk_|whsec_)[\w.~+/=-]{6,}|(eyJ)[\w-]{17,}\.[\w-]{10,}\.[\w-]*/gi;
const mayHoldSecret = /nwk_|whsec_|bearer |eyJ/i;

/**
 * Creates a logger that writes one JSON object per line. In the finished line, the logger redacts API keys, webhook
 * secrets, bearer tokens and JWTs.
 *
 * @param destination by default standard output, through {@link LogOutput}
 */
export function createLogger(service: string, level: LogLevel, destination?: DestinationStream): Logger {
  const out = destination ?? openStandardOutput();
  return pino(
    {
      base: { service },
      level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    { write: (line: string) => out.write(scrubSecrets(line)) },
  );
}

/**
 * Converts an error to plain values, without the objects that libraries attach. For example, pg's pool attaches the
 * client: 9 kB, including the key that cancels its statements.
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

/**
 * Redacts text that looks like an API key, a webhook secret, a bearer token or a JWT. Keeps its prefix, which shows the
 * kind of secret.
 */
export function scrubSecrets(text: string): string {
  return mayHoldSecret.test(text) ? text.replace(secretPattern, '$1$2$3[redacted]') : text;
}

/** Characters and bytes together: about 30,000 lines. */
const maxWaiting = 8 * 1_024 * 1_024;
/** Short, because a slow but working reader empties a pipe within milliseconds. */
const retryAfterMs = 20;

/**
 * Gathers the lines of one event loop iteration and writes them together. Lines that the reader does not accept wait in
 * memory; beyond a limit, lines are dropped and counted. So no caller ever waits for the reader of the log.
 */
export class LogOutput {
  dropped = 0;
  readonly #write: (bytes: Uint8Array) => number;
  #lines = '';
  /** The part of the current write that the reader has not accepted yet. */
  #bytes: Uint8Array = new Uint8Array();
  #isScheduled = false;

  /**
   * @param write writes as many bytes as the reader accepts, and returns their number; throws if the reader accepts no
   *   byte
   */
  constructor(write: (bytes: Uint8Array) => number) {
    this.#write = write;
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

  /** For the end of the process: blocks until all waiting lines are written, or for at most `withinMs`. */
  flushSync(withinMs: number): void {
    const until = performance.now() + withinMs;
    while (!this.#writeWaiting() && performance.now() < until) sleepSync(retryAfterMs);
  }

  #writeOrRetry(): void {
    this.#isScheduled = !this.#writeWaiting();
    if (this.#isScheduled) setTimeout(() => this.#writeOrRetry(), retryAfterMs).unref();
  }

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
const lastLinesWithinMs = 1_000;

/**
 * Opens the only output of this process. If nobody reads the pipe, pino's synchronous destination would stop all
 * deliveries. With pino's asynchronous destination, `process.exit` would never return.
 */
function openStandardOutput(): LogOutput {
  if (standardOutput !== undefined) return standardOutput;
  // Reading `process.stdout` for the first time makes a pipe or socket non-blocking.
  const { fd } = process.stdout;
  const output = new LogOutput((bytes) => writeSync(fd, bytes));
  process.on('exit', () => output.flushSync(lastLinesWithinMs));
  standardOutput = output;
  return output;
}

export function droppedLogLines(): number {
  return standardOutput?.dropped ?? 0;
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, ms);
}
