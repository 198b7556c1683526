import { describe, expect, it } from '@jest/globals';
import { sendRequest } from '../http/http-request.ts';
import { freePort } from '../processes/free-ports.ts';
import { startUpstream } from '../upstream/upstream.ts';
import { type IngressName, ingressNames, startIngress } from './ingress.ts';

const proxyTo: Record<IngressName, (port: number, upstream: string) => string> = {
  nginx: (port, upstream) => `server { listen 127.0.0.1:${port}; location / { proxy_pass ${upstream}; } }`,
  caddy: (port, upstream) =>
    `{\nadmin off\n}\nhttp://127.0.0.1:${port} {\nbind 127.0.0.1\nreverse_proxy ${upstream}\n}`,
};

describe.each(ingressNames)('startIngress: %s', (name) => {
  it('runs in the foreground with the given configuration, and ends when it is stopped', async () => {
    await using upstream = await startUpstream();
    const port = await freePort();
    const ingress = await startIngress(name, { port, config: proxyTo[name](port, upstream.url) });
    const answer = await sendRequest({ method: 'POST', url: `http://127.0.0.1:${port}/path?x=1`, body: 'some text' });
    expect([answer.status, answer.body]).toEqual([200, { served: true }]);
    expect(upstream.requests.map(({ method, path, body }) => [method, path, String(body)])).toEqual([
      ['POST', '/path?x=1', 'some text'],
    ]);
    await ingress.stop();
    expect((await ingress.process.exited).code).toBe(0);
  });

  it('fails with its output when it refuses the configuration', async () => {
    await expect(startIngress(name, { port: await freePort(), config: 'nonsense {' })).rejects.toThrow(
      /unknown directive|unexpected token/i,
    );
  });
});
