import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { VerifyIdentity } from './verify-identity.ts';

/** One streamed answer, which the test writes piece by piece. */
export interface ChatStream {
  /** Sends one server-sent event with a piece of the answer. */
  push(content: string): void;
  /** Sends `[DONE]` and ends the answer. */
  finish(): void;
  /** Breaks the connection in the middle of the answer. */
  cut(): void;
  /** Whether the connection has ended before the answer was finished. */
  isAbandoned(): boolean;
}

/** An internal service that answers `POST /v1/chat/completions` as OpenAI documents it. */
export interface ChatServer extends AsyncDisposable {
  readonly url: string;
  /** Heads of the requests that it has seen. */
  readonly seen: IncomingMessage[];
  /** Streams that were asked for and not handed out yet. */
  readonly streams: ChatStream[];
}

const headOfCompletion = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'stub' };

/** The model `unknown` does not exist, and is refused as OpenAI refuses it. */
export async function startChatServer(verify: VerifyIdentity): Promise<ChatServer> {
  const seen: IncomingMessage[] = [];
  const streams: ChatStream[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    answer(request, response, verify).then(
      (stream) => stream !== undefined && streams.push(stream),
      (error) => sendError(response, 401, 'not_from_the_api', String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    streams,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, verify: VerifyIdentity) {
  await verify(request);
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
    return sendError(response, 404, 'unknown_url', `Unknown request URL: ${request.method} ${request.url}.`);
  }
  const { model, messages, stream } = JSON.parse(await text(request));
  if (model === 'unknown') return sendError(response, 404, 'model_not_found', 'The model `unknown` does not exist.');
  if (stream === true) return openStream(response);
  const message = { role: 'assistant', content: `You said: ${messages.at(-1).content}` };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ ...headOfCompletion, object: 'chat.completion', choices, usage }));
}

function sendError(response: ServerResponse, status: number, code: string, message: string): undefined {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', param: 'model', code } }));
}

function openStream(response: ServerResponse): ChatStream {
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache' });
  response.flushHeaders();
  const send = (data: string) => response.write(`data: ${data}\n\n`);
  return {
    push: (content) => {
      const choices = [{ index: 0, delta: { content }, finish_reason: null }];
      send(JSON.stringify({ ...headOfCompletion, object: 'chat.completion.chunk', choices }));
    },
    finish: () => {
      send('[DONE]');
      response.end();
    },
    cut: () => response.destroy(),
    isAbandoned: () => response.closed && !response.writableFinished,
  };
}
