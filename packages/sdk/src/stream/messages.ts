import { createParser } from 'eventsource-parser';

/** What a stream of events sends. */
export type StreamMessage =
  /** The beginning of a connection: the secret that signs its events. */
  | { kind: 'session'; secret: string }
  /** An event, as a delivery would have it. */
  | { kind: 'event'; id: string; headers: Record<string, string>; body: string }
  /** Where the stream is, when events were left out since the last message. */
  | { kind: 'place'; id: string }
  /** How long to wait before the next connection. */
  | { kind: 'retry'; ms: number };

/** Reads server-sent events. What is no message of an event stream is left out: later versions may send more. */
export async function* readMessages(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamMessage> {
  const decoder = new TextDecoder();
  const messages: StreamMessage[] = [];
  const parser = createParser({
    // Called for the id of every message, before the message. What has no data is no message.
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
