import { ingressNames } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exchange, type RawAnswer } from './raw-exchange.ts';
import { authorization, type RecordedIngress, startIngressWithRecorders } from './recorders.ts';

/** What a client gets for a request that the API has granted, or could not be asked about. */
describe.each(ingressNames)('answers through %s', (name) => {
  let ingress: RecordedIngress;
  beforeAll(async () => {
    ingress = await startIngressWithRecorders(name, ({ path }) => answerFor(path));
  });
  afterAll(async () => ingress?.[Symbol.asyncDispose]());

  const get = (path: string): Promise<RawAnswer> =>
    exchange(ingress.front, { target: `/v1/consultations${path}`, headers: [authorization] });

  it('have the request id and the limits of the API, and nothing that a service says about itself', async () => {
    const { headers } = await get('/talkative');
    const valuesOf = (wanted: string) => headers.flatMap(([header, value]) => (header === wanted ? [value] : []));
    expect(valuesOf('x-request-id')).toEqual(['req_1']);
    expect(valuesOf('ratelimit')).toEqual(['"m";r=5;t=3']);
    expect(valuesOf('cache-control')).toEqual(['no-store']);
    expect(valuesOf('x-own')).toEqual(['kept']);
    for (const absent of ['set-cookie', 'x-powered-by']) expect(valuesOf(absent)).toEqual([]);
    expect(valuesOf('server').join()).not.toContain('service/1.0');
  });

  it('keep what a service says about caching', async () => {
    const { headers } = await get('/cacheable');
    expect(headers.filter(([header]) => header === 'cache-control')).toEqual([['cache-control', 'max-age=60']]);
  });

  it.each([301, 400, 401, 403, 404, 413, 429, 500, 502, 503])(
    'pass on the %i of a service with its body',
    async (status) => {
      const answer = await get(`/status/${status}`);
      expect([answer.status, answer.body]).toEqual([status, bodyOfService]);
    },
  );

  it('follow no instruction of a service to the ingress', async () => {
    const answer = await get('/redirecting');
    expect([answer.status, answer.body]).toEqual([200, bodyOfService]);
  });

  // From here on something is away: the last tests of this file.
  it('are 502 when the service is away', async () => {
    await ingress.service.close();
    const { status, body, headers } = await get('/c1');
    expect([status, JSON.parse(body).error.code]).toEqual([502, 'upstream_unavailable']);
    expect(headers).toContainEqual(['x-request-id', JSON.parse(body).error.request_id]);
  });

  it('are 503, and never those of the service, when the API cannot be asked', async () => {
    await ingress.asked.close();
    const { status, body, headers } = await get('/c1');
    expect([status, JSON.parse(body).error.code]).toEqual([503, 'service_unavailable']);
    expect(headers).toContainEqual(['x-request-id', JSON.parse(body).error.request_id]);
    expect(headers).toContainEqual(['retry-after', '1']);
  });
});

const bodyOfService = 'of the service';

function answerFor(path: string): string {
  const status = Number(/\/status\/(\d+)$/.exec(path)?.[1] ?? 200);
  const own: Record<string, string> = {
    '/talkative': 'X-Request-Id: of-service\r\nRateLimit: own\r\nSet-Cookie: a=b\r\nX-Powered-By: x\r\nX-Own: kept\r\n',
    '/cacheable': 'Cache-Control: max-age=60\r\n',
    '/redirecting': 'X-Accel-Redirect: /.ingress/malformed\r\n',
  };
  const headers = own[path.replace('/v1/consultations', '')] ?? '';
  const head = `HTTP/1.1 ${status} Status\r\nServer: service/1.0\r\n${headers}`;
  return `${head}Content-Length: ${bodyOfService.length}\r\n\r\n${bodyOfService}`;
}
