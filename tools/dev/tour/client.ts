import { Agent } from 'node:http';
import got from 'got';
import type { z } from 'zod';

export interface JsonAnswer {
  status: number;
  body: unknown;
}

export interface Client {
  /** One request; any status is an answer, only a failed exchange throws. */
  request(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<JsonAnswer>;
}

const answerLimitBytes = 8 * 1024 * 1024;
const withinMs = 15_000;

/** A client of one listener of the API. The signal ends every request under way. */
export function createClient(options: { baseUrl: string; token: string; signal: AbortSignal }): Client {
  const http = got.extend({
    headers: { authorization: `Bearer ${options.token}` },
    agent: { http: new Agent({ keepAlive: false }) },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    http2: false,
  });
  return {
    request: async (method, path, body) => {
      const signal = AbortSignal.any([options.signal, AbortSignal.timeout(withinMs)]);
      const url = new URL(path, options.baseUrl);
      const stream = http.stream(url, { method, signal, ...(body && { json: body }) });
      // An abort after the answer is nobody's error any more; one before it ends the reading below.
      stream.on('error', () => undefined);
      // Without it got waits for us to write a body, for every method that may have one.
      if (body === undefined && method !== 'GET') stream.end();
      return await readAnswer(stream);
    },
  };
}

/**
 * Makes the request and takes its answer apart.
 *
 * @throws with the API's own words when the answer is not a success
 */
export async function call<Schema extends z.ZodType>(
  client: Client,
  schema: Schema,
  ...request: Parameters<Client['request']>
): Promise<z.output<Schema>> {
  const answer = await client.request(...request);
  if (answer.status < 200 || answer.status > 299) throw unexpectedAnswer(request, answer);
  return schema.parse(answer.body);
}

/** What to say of an answer that the tour cannot go on with. */
export function unexpectedAnswer(request: Parameters<Client['request']>, answer: JsonAnswer): Error {
  const [method, path] = request;
  const error = (answer.body as { error?: { code?: string; message?: string } } | null)?.error;
  const words = error ? `${error.code}: ${error.message}` : 'no further explanation';
  return new Error(`${method} ${path} was answered with ${answer.status} (${words}).`);
}

async function readAnswer(stream: ReturnType<typeof got.stream>): Promise<JsonAnswer> {
  let status = 0;
  stream.once('response', (response: { statusCode: number }) => {
    status = response.statusCode;
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += (chunk as Buffer).length;
    if (bytes > answerLimitBytes) throw new Error(`The answer is larger than ${answerLimitBytes} bytes.`);
    chunks.push(chunk as Buffer);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  return { status, body: text === '' ? null : parseJson(text) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
