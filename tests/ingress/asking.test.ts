import {
  forgedControlHeaders,
  forgedIdentityHeaders,
  forgedMark,
  hopByHopNominations,
  ingressNames,
  inParallel,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { authorizeSecret } from './front.ts';
import { exchange, parseAnswer, type RawAnswer, sendBytes } from './raw-exchange.ts';
import {
  authorization,
  grantedHeaders,
  identityOf,
  type RecordedIngress,
  refusal,
  startIngressWithRecorders,
} from './recorders.ts';

/** What an ingress writes to `/internal/v1/authorize`, byte for byte: a recorder stands in for the API. */
describe.each(ingressNames)('what %s asks the API', (name) => {
  let ingress: RecordedIngress;
  beforeAll(async () => {
    ingress = await startIngressWithRecorders(name);
  });
  afterAll(async () => ingress?.[Symbol.asyncDispose]());
  beforeEach(() => ingress.forget());

  const send = (target: string, headers: readonly [string, string][] = [], body = ''): Promise<RawAnswer> =>
    exchange(ingress.front, {
      method: body === '' ? 'GET' : 'POST',
      target,
      headers: [authorization, ...headers],
      body,
    });

  it('says method, target, address and the secret, and sends no body', async () => {
    const answer = await send('/v1/consultations/c1?x=%2F', [['Content-Type', 'text/plain']], 'secret body');
    expect(answer.status).toBe(200);
    const [ask] = ingress.asked.requests;
    expect([ask?.path, ask?.body.length, ask?.headers['content-length'] ?? '0']).toEqual([authorizePath, 0, '0']);
    expect(ask?.headers).toMatchObject({
      authorization: authorization[1],
      'x-internal-authorization': `Bearer ${authorizeSecret}`,
      'x-forwarded-method': 'POST',
      'x-forwarded-uri': '/v1/consultations/c1?x=%2F',
      'x-forwarded-for': '127.0.0.1',
    });
    expect(ask?.headers['transfer-encoding']).toBeUndefined();
    expect(ingress.asked.bytes()).not.toContain('secret body');
    expect(String(ingress.service.requests[0]?.body)).toBe('secret body');
  });

  it('names the scope of a path that the API does not know, and none of a path that it knows', async () => {
    await send('/reports/monthly');
    await send('/v1/consultations/c1');
    await send('/scim/v2/Users');
    expect(ingress.asked.requests.map(({ headers }) => headers['x-required-scope'] || 'none')).toEqual([
      'usage:read',
      'none',
      'none',
    ]);
  });

  it('sends no header that steers the judgement as the client sent it', async () => {
    await inParallel(forgedControlHeaders, 8, async (header) => {
      const answer = await send('/v1/consultations/c1', [[header.name, header.value]]);
      expect([header.name, answer.status]).toEqual([header.name, 200]);
    });
    expect(ingress.asked.bytes()).not.toContain(forgedMark);
    expect(ingress.service.bytes()).not.toContain(forgedMark);
    for (const { headers } of ingress.asked.requests) {
      expect(headers['x-authorize-repeat']).toBeUndefined();
      expect(headers['x-required-scope'] ?? '').toBe('');
      expect(headers['x-forwarded-uri']).toBe('/v1/consultations/c1');
    }
    expect(ingress.asked.requests).toHaveLength(forgedControlHeaders.length);
  });

  it('says all of it when the client names these headers in Connection', async () => {
    for (const value of hopByHopNominations) {
      const answer = await send('/v1/consultations/c1', [['Connection', value]]);
      expect([value, answer.status]).toEqual([value, 200]);
    }
    for (const { headers } of ingress.asked.requests) {
      expect(headers['x-internal-authorization']).toBe(`Bearer ${authorizeSecret}`);
      expect(headers.authorization).toBe(authorization[1]);
      expect(headers['x-forwarded-uri']).toBe('/v1/consultations/c1');
    }
    for (const { headers } of ingress.service.requests) expect(headers).toMatchObject(grantedHeaders);
  });

  it('keeps its secret and the key from the service', async () => {
    await send('/v1/consultations/c1');
    expect(ingress.service.requests).toHaveLength(1);
    expect(ingress.service.bytes()).not.toContain(authorizeSecret);
    expect(ingress.service.bytes()).not.toContain('a-key');
  });

  it('sends the identity that the API gave and nothing of what the client claims, also where there is no token', async () => {
    const { 'x-identity-token': _token, ...withoutToken } = grantedHeaders;
    for (const [target, expected] of [
      ['/v1/consultations/c1', grantedHeaders],
      ['/v1/consultations/without-token', withoutToken],
    ] as const) {
      ingress.service.forget();
      await inParallel(forgedIdentityHeaders, 8, async (header) => {
        await send(target, [[header.name, header.value]]);
      });
      expect(ingress.service.requests).toHaveLength(forgedIdentityHeaders.length);
      for (const request of ingress.service.requests) expect(identityOf(request)).toEqual(expected);
      expect(ingress.service.bytes()).not.toContain(forgedMark);
    }
  });

  it('hands a refusal on unchanged, also where it asks twice', async () => {
    const answer = await send('/v1/consultations/refused', [['Content-Type', 'text/plain']], 'secret body');
    expect([answer.status, answer.body]).toEqual([429, refusal]);
    expect(answer.headers).toContainEqual(['retry-after', '7']);
    const repeats = ingress.asked.requests.map(({ headers }) => headers['x-authorize-repeat'] ?? 'first');
    expect(repeats).toEqual(name === 'nginx' ? ['first', '1'] : ['first']);
    for (const { headers, body } of ingress.asked.requests) {
      expect([body.length, headers['transfer-encoding'], headers['content-length'] ?? '0']).toEqual([
        0,
        undefined,
        '0',
      ]);
      expect(headers['x-forwarded-method']).toBe('POST');
    }
    expect(ingress.service.requests).toHaveLength(0);
  });

  it('closes a request whose body grows beyond the limit, and does not ask about it again', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x1_0000)}\r\n`;
    const body = `${chunk.repeat(80)}0\r\n\r\n`;
    const head = `POST /v1/consultations/large HTTP/1.1\r\nHost: x\r\n${authorization.join(': ')}\r\n`;
    const text = await sendBytes(ingress.front, Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n${body}`));
    expect([0, 413]).toContain(parseAnswer(text).status);
    expect(ingress.service.requests).toHaveLength(0);
    expect(ingress.asked.bytes()).not.toContain('xxxx');
    expect(ingress.asked.requests).toHaveLength(1);
    expect(ingress.asked.problems).toEqual([]);
  });
});

const authorizePath = '/internal/v1/authorize';
