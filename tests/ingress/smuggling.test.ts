import {
  ingressNames,
  inParallel,
  type ReadRequest,
  smuggledPath,
  smugglingAttempts,
  smugglingRequest,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exchange, sendBytes } from './raw-exchange.ts';
import {
  authorization,
  grantedHeaders,
  identityOf,
  type RecordedIngress,
  startIngressWithRecorders,
} from './recorders.ts';

/** Requests whose end two servers may see at different places, sent through a real ingress. */
describe.each(ingressNames)('requests that hide another one, through %s', (name) => {
  let ingress: RecordedIngress;
  beforeAll(async () => {
    ingress = await startIngressWithRecorders(name);
    await inParallel([...smugglingAttempts.entries()], 12, async ([index, attempt]) => {
      const line = `POST /v1/consultations/attempt-${index} HTTP/1.1`;
      const head = [line, 'Host: 127.0.0.1', authorization.join(': ')];
      // A server that waits for the rest of a body is left after a second.
      await sendBytes(ingress.front, smugglingRequest(head, attempt), 1_000);
    });
    await exchange(ingress.front, { target: '/v1/consultations/last', headers: [authorization] });
  });
  afterAll(async () => ingress?.[Symbol.asyncDispose]());

  it('never hands on the hidden request', () => {
    const paths = ingress.service.requests.map(({ path }) => path);
    expect(paths.length).toBeGreaterThan(5);
    expect(paths).not.toContain(smuggledPath);
    expect(paths.at(-1)).toBe('/v1/consultations/last');
    const judged = ingress.asked.requests.filter(({ headers }) => headers['x-forwarded-uri'] === smuggledPath);
    expect(judged.map(({ headers }) => headers.authorization)).toEqual(judged.map(() => undefined));
  });

  it('sends requests whose end is beyond doubt, each with the identity of the key that was judged', () => {
    expect([ingress.service.problems, ingress.asked.problems]).toEqual([[], []]);
    const sent = [...ingress.service.requests, ...ingress.asked.requests];
    expect(sent.filter(isFramedAmbiguously).map(({ path, rawHeaders }) => [path, rawHeaders])).toEqual([]);
    for (const request of ingress.service.requests) expect(identityOf(request)).toEqual(grantedHeaders);
  });
});

function isFramedAmbiguously({ rawHeaders }: ReadRequest): boolean {
  const named = (wanted: RegExp) => rawHeaders.filter(([name]) => wanted.test(name));
  const framing = named(/^\s*(content.length|transfer.encoding)/i);
  const isPlain = ([name, value]: readonly [string, string]) =>
    /^content-length$/i.test(name) ? /^\d+$/.test(value) : /^transfer-encoding$/i.test(name) && value === 'chunked';
  return framing.length > 1 || !framing.every(isPlain);
}
