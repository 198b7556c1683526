import { get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { type HttpAnswer, until } from '@enterprise-api/testkit';

/** A message of a stream of events, as the HTML standard reads them. */
export interface StreamMessage {
  id?: string;
  event?: string;
  /** The parsed data of a message of ours. */
  data: { secret?: string; headers?: Record<string, string>; body?: string };
}

/** A client of a stream that keeps what it reads. */
export interface StreamClient {
  readonly answer: HttpAnswer;
  readonly messages: StreamMessage[];
  /** All that came, as it came. */
  readonly text: () => string;
  readonly isOver: () => boolean;
  /** Ids of the events that have come, once there are so many. */
  ids(count: number): Promise<string[]>;
  /** Stops reading, as a client does that is busy. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Opens a stream; an answer that is none is read to its end. */
export async function openStream(url: string, headers: Record<string, string>): Promise<StreamClient> {
  const response = await request(url, headers);
  const { statusCode: status = 0, headers: received } = response;
  const isStream = received['content-type']?.startsWith('text/event-stream') === true;
  const body = isStream ? undefined : await json(response);
  let text = '';
  let isOver = !isStream;
  response.setEncoding('utf8');
  const messages: StreamMessage[] = [];
  let rest = '';
  response.on('data', (piece: string) => {
    text += piece;
    const parts = (rest + piece).split('\n\n');
    rest = parts.pop() ?? '';
    messages.push(...parts.flatMap(parseMessage));
  });
  response.on('error', () => undefined);
  response.on('close', () => {
    isOver = true;
  });
  const ids = () => messages.flatMap(({ id }) => (id === undefined ? [] : [id]));
  return {
    answer: { status, headers: received, text: '', body },
    messages,
    text: () => text,
    isOver: () => isOver,
    ids: (count) => until(`${count} events`, ids, { holds: (found) => found.length >= count, withinMs: 30_000 }),
    pause: () => response.pause(),
    resume: () => response.resume(),
    close: () => response.destroy(),
  };
}

const mostTries = 8;

/** Asks again after a 503, as clients do: on a busy machine the database does not always answer in time. */
async function request(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  for (let tries = 1; ; tries += 1) {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url, { headers, agent: false }, resolve).on('error', reject);
    });
    if (response.statusCode !== 503 || tries === mostTries) return response;
    response.resume();
  }
}

/** A block of lines without an empty one; comments and `retry` are no messages. */
function parseMessage(block: string): StreamMessage[] {
  const fields = block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]);
  const { id, event, data } = Object.fromEntries(fields) as Record<string, string>;
  if (data === undefined) return [];
  return [{ ...(id !== undefined && { id }), ...(event !== undefined && { event }), data: JSON.parse(data) }];
}
