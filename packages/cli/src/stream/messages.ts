import { createParser } from 'eventsource-parser';

/** What a stream of events sends. */
export type StreamMessage =
  /** The beginning of a connection: the secret that signs its events. */
  | { kind: 'session'; secret: string }
  /** An event, as a delivery would have it. */
  | { kind: 'event'; id: string; headers: Record<string, string>; body: string }
  /** How long to wait before the next connection. */
  | { kind: 'retry'; ms: number };

/** Reads server-sent events. What is no message of an event stream is left out: later versions may send more. */
export async function* readMessages(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamMessage> {
  const decoder = new TextDecoder();
  let messages: StreamMessage[] = [];
  const parser = createParser({
    onEvent: ({ event, id, data }) => {
      const message = event === 'session' ? parseSession(data) : parseEvent(id, data);
      if (message !== undefined) messages.push(message);
    },
    onRetry: (ms) => void messages.push({ kind: 'retry', ms }),
  });
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    const read = messages;
    messages = [];
    yield* read;
  }
}

function parseSession(data: string): StreamMessage | undefined {
  const secret = fieldOf(parseJson(data), 'secret');
  return typeof secret === 'string' ? { kind: 'session', secret } : undefined;
}

function parseEvent(id: string | undefined, data: string): StreamMessage | undefined {
  const message = parseJson(data);
  const headers = fieldOf(message, 'headers');
  const body = fieldOf(message, 'body');
  if (id === undefined || typeof body !== 'string' || !isHeaders(headers)) return undefined;
  return { kind: 'event', id, headers, body };
}

function isHeaders(headers: unknown): headers is Record<string, string> {
  return (
    typeof headers === 'object' &&
    headers !== null &&
    Object.values(headers).every((value) => typeof value === 'string')
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
