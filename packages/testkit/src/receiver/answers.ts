import { setTimeout as pause } from 'node:timers/promises';

type Bytes = string | Buffer;

/** The answer of a scripted receiver to a request. */
export type Answer =
  /** An ordinary answer; by default 200 with an empty body. */
  | { status?: number; headers?: Record<string, string>; body?: Bytes }
  /** Exactly these bytes, as fast as the other side reads, and then `after` (default `keep`). */
  | { raw: Bytes | AsyncIterable<Bytes>; after?: 'keep' | 'end' | 'reset' }
  /** No answer. */
  | 'hang'
  /** Closes the connection with a FIN, or with an RST. */
  | 'end'
  | 'reset';

/** The bytes of a usual answer. */
export function answerBytes({
  status = 200,
  headers = {},
  body = '',
}: Exclude<Answer, string | { raw: unknown }>): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = lines.some((line) => /^(?:content-length|transfer-encoding):/i.test(line))
    ? ''
    : `content-length: ${Buffer.byteLength(body)}\r\n`;
  const head = `HTTP/1.1 ${status} Scripted\r\n${lines.join('')}${length}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]);
}

/** Sends bytes one by one, with a pause after each. */
export function drip(text: string, everyMs: number): Answer {
  return { raw: dripping(text, everyMs) };
}

/** A head without an end. */
export function endlessHeaders(): Answer {
  return { raw: repeating('HTTP/1.1 200 OK\r\n', `x-filler: ${'x'.repeat(1_000)}\r\n`) };
}

/** A complete head, then a body without an end. */
export function endlessBody(status = 200): Answer {
  return { raw: repeating(`HTTP/1.1 ${status} OK\r\ncontent-type: text/plain\r\n\r\n`, 'x'.repeat(16_384)) };
}

/** Informational (1xx) responses without an end, one every `everyMs`. */
export function informationalStorm(status: number, everyMs: number): Answer {
  return { raw: repeating('', `HTTP/1.1 ${status} Wait\r\n\r\n`, everyMs) };
}

async function* dripping(text: string, everyMs: number): AsyncGenerator<Bytes> {
  for (const character of text) {
    yield character;
    await pause(everyMs);
  }
}

async function* repeating(first: string, again: string, everyMs = 0): AsyncGenerator<Bytes> {
  yield first;
  for (;;) {
    yield again;
    await pause(everyMs);
  }
}
