import { errorBodySchema } from '@enterprise-api/shared/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { contentsOf } from '../../testing/contents.ts';
import { createRawClient, type RawAnswer, type RawClient } from '../../testing/raw-client.ts';
import { type RawRequest, rawRequestsFor } from '../../testing/raw-requests.ts';
import { createRouteCases, type RouteCases } from '../../testing/route-cases.ts';
import { everyRoute, type ListedRoute } from '../../testing/route-list.ts';
import { insertDelivery } from '../../testing/rows.ts';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';

/** Requests a route gets: so many at a time, so many times. fast-check prints the seed of a run that fails. */
const atOnce = 50;
const numRuns = 40;

let api: TestApi;
let cases: RouteCases;
let key: string;
let ids: Record<string, string>;
const clients = new Map<string, RawClient>();

beforeAll(async () => {
  const environment = {
    API_TRUSTED_PROXIES: '127.0.0.1',
    API_RATE_LIMITS: 'enterprise=10000000',
    API_AUTH_FAILURES: '1000000',
    LOG_LEVEL: 'warn',
  };
  api = await startTestApi({ environment });
  cases = createRouteCases(api);
  const made = await api.createKey();
  key = made.secret;
  const whk = (await api.createWebhook(key)).id;
  const dlv = (await insertDelivery(api.db, { organizationId: made.organization_id, webhookId: whk })).id;
  ids = { org: made.organization_id, key: made.id, whk, dlv };
  for (const url of [api.publicUrl, api.internalUrl]) clients.set(url, createRawClient(url));
});
afterAll(async () => {
  for (const client of clients.values()) client.close();
  await api.stop();
});

const urlOf = ({ path }: ListedRoute) => (path.startsWith('/internal/') ? api.internalUrl : api.publicUrl);

/** Whatever else is right about a request that must be refused, this parameter is not known. */
const spoiler = 'fuzz=1';

/** Whether an answer of the route can be waited for and changes nothing. A stream of events does not end. */
const mayBeAnswered = ({ method, path, audited = false }: ListedRoute) =>
  method === 'GET' && path !== '/v1/events/stream' && !audited;

function bytesOf(route: ListedRoute, request: RawRequest): Buffer {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name) => {
    const kind = route.ids[name] ?? '';
    return request.id ?? ids[kind] ?? `${kind}_00000000000000000000000000`;
  });
  const query = [...(mayBeAnswered(route) ? [] : [spoiler]), ...(request.query === '' ? [] : [request.query])];
  const secret = path.startsWith('/internal/') ? api.internalSecret : key;
  const { authorization, body } = request;
  const has = (name: string) => request.headers.some(([each]) => each.toLowerCase() === name);
  const lines = [
    `${route.method} ${path}${query.length > 0 ? '?' : ''}${query.join('&')} HTTP/1.1`,
    ...(has('host') ? [] : ['Host: api']),
    ...(authorization === null || authorization.beside ? [`Authorization: Bearer ${secret}`] : []),
    ...(authorization === null ? [] : [`Authorization: ${authorization.value}`]),
    ...(body === null ? [] : [`Content-Length: ${body.length}`]),
    ...(body === null || has('content-type') ? [] : ['Content-Type: application/json']),
    ...request.headers.map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)]);
}

/** What is wrong with an answer; null when it is one of the contract. */
function complaint({ status, head, body }: RawAnswer, isRead: boolean): string | null {
  if (!(status >= (isRead ? 200 : 400) && status < 500)) return `status ${status}`;
  if (!/\r\nX-Request-Id: [\w.-]{1,128}\r\n/i.test(head)) return 'no request id';
  if (status >= 400 && !errorBodySchema.safeParse(JSON.parse(body)).success) return 'not the body of an error';
  return null;
}

/** Without the route that revokes the key, whatever else the request says. */
const routes = everyRoute().filter(({ caller }) => caller !== 'any_key');

describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_name, route) => {
  it('answers thousands of random requests in time and without a 5xx, and changes nothing', async () => {
    const client = clients.get(urlOf(route));
    const isRead = mayBeAnswered(route);
    const requests = rawRequestsFor(route, await cases.validBody(route));
    const before = await contentsOf(api.db);
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: atOnce, maxLength: atOnce }), async (batch) => {
        const answers = await Promise.all(
          batch.map(async (request) => {
            const bytes = bytesOf(route, request);
            const answer = await client?.exchange(bytes);
            const found = answer === undefined ? 'no client' : complaint(answer, isRead);
            return found === null ? [] : [{ found, bytes: bytes.toString('latin1'), answer }];
          }),
        );
        expect(answers.flat()).toEqual([]);
      }),
      // A batch is what was sent; which of it was answered wrongly is in the message.
      { numRuns, endOnFailure: true },
    );
    expect(await contentsOf(api.db)).toBe(before);
  });
});

describe('random bytes', () => {
  it('get a 4xx or are disconnected, never get a 5xx, and change nothing', async () => {
    const before = await contentsOf(api.db);
    const valid = (body: string) =>
      `POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
    const whole = valid('{"url":"http://refused.example/","events":["*"]}');
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      fc.constantFrom('\0', '\r', '\n', '\r\n', '\r\n\r\n', ' ', ':', '\r\nTransfer-Encoding: chunked', '\r\nHost: y'),
      fc.constantFrom('\r\nContent-Length: 1', '\r\nContent-Length: -1', '\r\nContent-Length: 99999999999999999999'),
      fc.constantFrom(`\r\nX: ${'x'.repeat(17_000)}`, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '\x16\x03\x01\x02\x00'),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length), fc.nat(20), noise, async (at, removed, inserted) => {
        const sent = whole.slice(0, at) + inserted + whole.slice(at + removed);
        // The end of our side follows the bytes, so the server does not wait for more.
        const answer = await clients.get(api.publicUrl)?.cutOff(Buffer.from(sent, 'latin1'));
        expect(answer).not.toMatch(/^HTTP\/1\.1 (?:5|2)/m);
      }),
      { numRuns: 1_000 },
    );
    expect(await contentsOf(api.db)).toBe(before);
  });
});
