import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import {
  forgedControlHeaders,
  forgedIdentityHeaders,
  forgedMark,
  ingressNames,
  inParallel,
  passedTargets,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  authorization,
  grantedHeaders,
  identityOf,
  type RecordedIngress,
  startIngressWithRecorders,
} from './recorders.ts';

/** Header names are in lower case in HTTP/2, and there is no request line: the ingress writes its own. */
describe.each(ingressNames)('HTTP/2 to %s', (name) => {
  let ingress: RecordedIngress;
  let session: ClientHttp2Session;
  beforeAll(async () => {
    ingress = await startIngressWithRecorders(name);
    session = connect(`https://127.0.0.1:${ingress.front.port}`, { ca: ingress.front.ca });
    await once(session, 'connect');
  });
  afterAll(async () => {
    session?.destroy();
    await ingress?.[Symbol.asyncDispose]();
  });
  beforeEach(() => ingress.forget());

  const send = async (path: string, headers: Record<string, string> = {}): Promise<number> => {
    const stream = session.request({ ':path': path, [authorization[0]]: authorization[1], ...headers });
    const [answer] = (await once(stream, 'response')) as [{ ':status': number }];
    await once(stream.resume(), 'close');
    return answer[':status'];
  };

  it('asks about the very target, and hands on the same', async () => {
    for (const { target } of passedTargets) {
      ingress.forget();
      expect([target, await send(target)]).toEqual([target, 200]);
      expect(ingress.asked.requests.map(({ headers }) => headers['x-forwarded-uri'])).toEqual([target]);
      expect(ingress.service.requests.map(({ path }) => path)).toEqual([target]);
    }
  });

  it('removes what the client claims', async () => {
    const forged = [...forgedIdentityHeaders, ...forgedControlHeaders];
    await inParallel(forged, 8, async (header) => {
      expect(await send('/v1/consultations/c1', { [header.name.toLowerCase()]: header.value })).toBe(200);
    });
    expect(ingress.service.requests).toHaveLength(forged.length);
    for (const request of ingress.service.requests) expect(identityOf(request)).toEqual(grantedHeaders);
    expect(ingress.service.bytes()).not.toContain(forgedMark);
    for (const { headers } of ingress.asked.requests) expect(headers['x-authorize-repeat']).toBeUndefined();
  });

  it('gets a refusal as the API gave it, and keeps the connection', async () => {
    expect(await send('/v1/consultations/refused')).toBe(429);
    expect(await send('/v1/consultations/c1')).toBe(200);
    expect(session.closed).toBe(false);
  });
});
