import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { curlLine } from './curl.ts';
import type { ListedOperation } from './open-api.ts';

function operation(fields: Partial<ListedOperation>): ListedOperation {
  const facts = { operationId: 'x', summary: 'x', tag: 'x', method: 'GET', path: '/v1/me' };
  return { ...facts, parameters: [], responses: {}, ...fields };
}

/** The arguments that a shell gives to curl. */
function argumentsOf(line: string): string[] {
  const script = `curl() { for word; do printf '%s\\0' "$word"; done; }\n${line}`;
  const env = { API: 'https://api.example.com', API_KEY: 'nwk_key' };
  return execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' }).split('\0').slice(0, -1);
}

const authorization = ['-H', 'Authorization: Bearer nwk_key'];

describe('curlLine', () => {
  it('asks for a resource, with an example in place of its id', () => {
    const id = { name: 'id', in: 'path', example: 'whk_1' } as const;
    expect(argumentsOf(curlLine(operation({ path: '/v1/webhooks/{id}', parameters: [id] })))).toEqual([
      ...authorization,
      'https://api.example.com/v1/webhooks/whk_1',
    ]);
  });

  it('shows a stream as it comes', () => {
    const responses = { 200: { description: '', content: { 'text/event-stream': {} } }, 404: { $ref: '#/x' } };
    expect(argumentsOf(curlLine(operation({ path: '/v1/events/stream', responses })))).toEqual([
      '-N',
      ...authorization,
      'https://api.example.com/v1/events/stream',
    ]);
  });

  it.each(["it's", '$API_KEY `id` "quoted" \\ \n'])('sends a body as it is: %j', (description) => {
    const body = { description, url: 'https://example.com/a-rather-long-path/so-that-the-line-is-broken' };
    const requestBody = { content: { 'application/json': { example: body } } };
    expect(argumentsOf(curlLine(operation({ method: 'POST', path: '/v1/webhooks', requestBody })))).toEqual([
      ...authorization,
      '-H',
      'Content-Type: application/json',
      '-d',
      JSON.stringify(body),
      'https://api.example.com/v1/webhooks',
    ]);
  });

  it.each(['POST', 'DELETE'])('names the method where curl would choose another: %s without a body', (method) => {
    expect(argumentsOf(curlLine(operation({ method }))).slice(0, 2)).toEqual(['-X', method]);
  });
});
