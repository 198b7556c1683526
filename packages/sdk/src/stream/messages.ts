import { createParser } from 'eventsource-parser';

/** A message of the event stream. */
export type StreamMessage =
  /** Begins a connection. Contains the secret that signs its events. */
  | { kind: 'session'; secret: string }
  /** An event, with the headers and body of a delivery. */
  | { kind: 'event'; id: string; headers: Record<string, string>; body: string }
  /** The current place of the stream, if the API skipped events since the last message. */
  | { kind: 'place'; id: string }
  /** The pause before the next connection. */
  | { kind: 'retry'; ms: number };

/** Reads server-sent events. Ignores unknown messages, because later versions may send more kinds. */
export async function* readMessages(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamMessage> {
  const decoder = new TextDecoder();
  const messages: StreamMessage[] = [];
  const parser = createParser({
    // The parser calls this with the id of every message, before the message. It reports no message without data.
    onId: (id) => void messages.push({ kind: 'place', id }),
    onEvent: ({ event, id, data }) => {
      if (id !== undefined) messages.pop();
      const message = event === 'session' ? parseSession(data) : parseEvent(id, data);
      if (message !== null) messages.push(message);
    },
    onRetry: (ms) => void messages.push({ kind: 'retry', ms }),
  });
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* messages.splice(0);
  }
}

function parseSession(data: string): StreamMessage | null {
  const { secret } = parseObject(data);
  return typeof secret === 'string' ? { kind: 'session', secret } : null;
}

function parseEvent(id: string | undefined, data: string): StreamMessage | null {
  const { headers, body } = parseObject(data);
  if (id === undefined || typeof body !== 'string' || !isHeaders(headers)) return null;
  return { kind: 'event', id, headers, body };
}

function isHeaders(headers: unknown): headers is Record<string, string> {
  if (typeof headers !== 'object' || headers === null) return false;
  return Object.values(headers).every((value) => typeof value === 'string');
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
