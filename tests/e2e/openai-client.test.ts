import { randomBytes } from 'node:crypto';
import type { ServiceProcess } from '@enterprise-api/testkit';
import { type ApiCustomer, createApiCustomer, openStage, type Stage, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { type ChatServer, type ChatStream, startChatServer } from './upstreams/chat-server.ts';
import { createVerifyIdentity } from './upstreams/verify-identity.ts';

const question = { model: 'stub', messages: [{ role: 'user' as const, content: 'Grüße 👋' }] };
const signingKeys = `test:${randomBytes(32).toString('base64')}`;

let stage: Stage;
let chat: ChatServer;
let api: ServiceProcess;
let customer: ApiCustomer;
let client: OpenAI;
beforeAll(async () => {
  stage = await openStage({ redisUrl: undefined });
  chat = await startChatServer(createVerifyIdentity('chat', () => api.internalUrl));
  api = await stage.startApi({
    API_UPSTREAMS: `chat=${chat.url}`,
    IDENTITY_SIGNING_KEYS: signingKeys,
    // Longer than any wait, so that only the client ends a stream.
    API_UPSTREAM_IDLE_TIMEOUT: '10m',
  });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await chat[Symbol.asyncDispose]();
});
beforeEach(async () => {
  customer = await createApiCustomer(api);
  client = clientWith(customer.key);
  chat.seen.length = 0;
});

/** The client as its documentation configures it for another host; nothing is replaced in it. */
function clientWith(apiKey: string, at: ServiceProcess = api): OpenAI {
  return new OpenAI({ baseURL: `${at.url}/v1`, apiKey, maxRetries: 0 });
}

async function askForStream() {
  const stream = await client.chat.completions.create({ ...question, stream: true });
  const upstream = await until('the stream at the upstream', () => chat.streams.pop());
  return { stream, upstream: upstream as ChatStream };
}

/** The error that a call fails with. */
async function failureOf(call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await call.then(
    () => undefined,
    (failed: unknown) => failed,
  );
  expect(error).toBeInstanceOf(OpenAI.APIError);
  return error as InstanceType<typeof OpenAI.APIError>;
}

describe('the openai client, with our base URL and an API key', () => {
  it('creates a completion', async () => {
    const completion = await client.chat.completions.create(question);
    expect(completion.choices[0]?.message.content).toBe('You said: Grüße 👋');
    expect(completion._request_id).toMatch(/^req_/);
    const [seen] = chat.seen;
    expect(seen?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^OpenAI\/JS/),
      'x-organization-id': customer.organizationId,
      'x-request-id': completion._request_id,
      'x-stainless-lang': 'js',
    });
    expect(seen?.headers.authorization).toBeUndefined();
  });

  it('reads a stream piece by piece, each as soon as it is sent', async () => {
    const { stream, upstream } = await askForStream();
    const pieces = stream[Symbol.asyncIterator]();
    for (const content of ['Hel', 'lö', ' 👋']) {
      upstream.push(content);
      expect((await pieces.next()).value?.choices[0]?.delta.content).toBe(content);
    }
    upstream.finish();
    expect((await pieces.next()).done).toBe(true);
    expect(upstream.isAbandoned()).toBe(false);
  });

  it('aborts a stream, and the upstream sees its end', async () => {
    const { stream, upstream } = await askForStream();
    upstream.push('one');
    await stream[Symbol.asyncIterator]().next();
    stream.controller.abort();
    await until('the end of the stream at the upstream', upstream.isAbandoned);
  });

  it('fails when the upstream breaks a stream, instead of taking half an answer for a whole one', async () => {
    const { stream, upstream } = await askForStream();
    upstream.push('half of');
    const pieces = stream[Symbol.asyncIterator]();
    await pieces.next();
    upstream.cut();
    await expect(pieces.next()).rejects.toThrow('terminated');
  });
});

describe('the error classes of the openai client', () => {
  it('APIError of the upstream: its own error passes through', async () => {
    const error = await failureOf(client.chat.completions.create({ ...question, model: 'unknown' }));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect([error.code, error.type, error.param]).toEqual(['model_not_found', 'invalid_request_error', 'model']);
    expect(error.message).toContain('The model `unknown` does not exist.');
  });

  it('AuthenticationError: no such key', async () => {
    const error = await failureOf(clientWith('sk-not-one-of-ours').chat.completions.create(question));
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect([error.status, error.code, error.type]).toEqual([401, 'unauthorized', 'authentication_error']);
    expect(error.requestID).toMatch(/^req_/);
    expect(chat.seen).toEqual([]);
  });

  it('PermissionDeniedError: the key lacks the scope', async () => {
    const { secret } = await customer.createKey(customer.organizationId, { scopes: ['me:read'] });
    const error = await failureOf(clientWith(secret).chat.completions.create(question));
    expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect([error.status, error.code]).toEqual([403, 'forbidden_scope']);
    expect((error.error as { required_scope: string }).required_scope).toBe('chat.completions');
    expect(chat.seen).toEqual([]);
  });

  it('RateLimitError: the organization is over its limit', async () => {
    const settings = { API_UPSTREAMS: `chat=${chat.url}`, IDENTITY_SIGNING_KEYS: signingKeys };
    await using limited = await stage.startApi({ ...settings, API_RATE_LIMITS: 'enterprise=1' });
    const hasty = clientWith(customer.key, limited);
    await hasty.chat.completions.create(question);
    const error = await failureOf(hasty.chat.completions.create(question));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect([error.status, error.code, error.type]).toEqual([429, 'rate_limited', 'rate_limit_error']);
    expect(Number(error.headers?.get('retry-after'))).toBeGreaterThan(0);
    expect(chat.seen).toHaveLength(1);
  });

  it('InternalServerError: the upstream is away', async () => {
    const gone = await startChatServer(async () => ({}));
    await gone[Symbol.asyncDispose]();
    await using alone = await stage.startApi({ API_UPSTREAMS: `chat=${gone.url}` });
    const error = await failureOf(clientWith(customer.key, alone).chat.completions.create(question));
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect([error.status, error.code, error.type]).toEqual([502, 'upstream_unavailable', 'api_error']);
  });
});
