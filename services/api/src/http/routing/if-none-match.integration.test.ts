import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRouteCases, type RouteCases } from '../../testing/route-cases.ts';
import { everyRoute } from '../../testing/route-list.ts';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';
import type { AnyRoute } from '../../testing/wrongs.ts';

let api: TestApi;
let cases: RouteCases;
beforeAll(async () => {
  api = await startTestApi({ environment: { API_TRUSTED_PROXIES: '127.0.0.1' } });
  cases = createRouteCases(api);
});
afterAll(() => api.stop());

const reads = everyRoute().filter(({ method }) => method === 'GET');
const nameOf = ({ method, path }: AnyRoute) => `${method} ${path}`;
const tagged = reads.filter(({ etag }) => etag).map((route) => [nameOf(route), route] as const);
const untagged = reads.filter(({ etag }) => !etag).map((route) => [nameOf(route), route] as const);

const ask = (route: AnyRoute, header: string) => cases.callWith(route, { headers: { 'If-None-Match': header } });
const asHead = (route: AnyRoute) => ({ ...route, method: 'HEAD' }) as unknown as AnyRoute;

async function tagOf(route: AnyRoute): Promise<string> {
  const { status, headers } = await cases.callWith(route, {});
  expect([status, typeof headers.etag]).toEqual([200, 'string']);
  return headers.etag as string;
}

describe.each(tagged)('If-None-Match on %s', (_name, route) => {
  it.each([
    ['the tag', (tag: string) => tag],
    ['the tag, made weak on the way', (tag: string) => `W/${tag}`],
    ['a list with the tag', (tag: string) => `"other", ${tag}`],
    ['a list with the weak tag, and empty elements', (tag: string) => `"other" ,, W/${tag} ,`],
    ['*', () => '*'],
  ])('304 for %s, to GET and to HEAD', async (_what, headerOf) => {
    const tag = await tagOf(route);
    for (const asked of [route, asHead(route)]) {
      const answer = await ask(asked, headerOf(tag));
      expect([answer.status, answer.headers.etag, answer.text]).toEqual([304, tag, '']);
      expect([answer.headers['content-type'], answer.headers['content-length']]).toEqual([undefined, undefined]);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['x-request-id']).toBe('test.request-1');
    }
  });

  it.each([
    ['another tag', () => '"other"'],
    ['a list without the tag', () => '"other", W/"more"'],
    ['the tag without its quotes', (tag: string) => tag.slice(1, -1)],
    ['the tag beside something malformed', (tag: string) => `${tag}, other`],
    ['* in quotes', () => '"*"'],
    ['nothing', () => ''],
  ])('200 for %s', async (_what, headerOf) => {
    const answer = await ask(route, headerOf(await tagOf(route)));
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  });

  it('404 for what is not there, also with *', async () => {
    const [name = 'id'] = Object.keys(route.ids);
    const path = route.path.replace(`{${name}}`, `${route.ids[name]}_01jd6kz5r8e2v9qxm3c7t4b0na`);
    expect((await ask({ ...route, path, ids: {} }, '*')).status).toBe(404);
  });
});

describe.each(untagged)('%s has no ETag', (_name, route) => {
  it('and ignores If-None-Match', async () => {
    const answer = await ask(route, '*');
    expect([answer.status, answer.headers.etag]).toEqual([route.status, undefined]);
  });
});
