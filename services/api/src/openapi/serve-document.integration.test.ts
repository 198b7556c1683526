import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const committed = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8'));

describe.each([
  ['public', '/openapi.json', 'openapi.json'],
  ['internal', '/internal/openapi.json', 'internal-openapi.json'],
] as const)('the document of the %s listener', (listener, path, file) => {
  const ask = (method: 'get' | 'head' | 'post', headers: Record<string, string> = {}) =>
    request(listener === 'public' ? api.publicUrl : api.internalUrl)
      [method](path)
      .set(headers);

  it('is read without a key, and is the one in docs/', async () => {
    const { body, headers } = await ask('get').expect(200);
    expect(body).toEqual(committed(file));
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' });
  });

  it('is 304 for a client that has it', async () => {
    const { headers } = await ask('head').expect(200);
    const etag = headers.etag ?? '';
    const { text } = await ask('get', { 'If-None-Match': etag }).expect(304).expect('ETag', etag);
    expect(text).toBe('');
    await ask('get', { 'If-None-Match': '"another"' }).expect(200);
  });

  it('has no other method', async () => {
    const { body } = await ask('post').expect(405).expect('Allow', 'GET, HEAD');
    expect(body.error.code).toBe('method_not_allowed');
  });

  it('is not on the other listener', async () => {
    const other = listener === 'public' ? api.internalUrl : api.publicUrl;
    await request(other).get(path).expect(404);
  });
});
