import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { curlOf, shellWord } from '../../packages/console/src/curl.ts';

jest.setTimeout(600_000);

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const received: { body: Buffer; headers: IncomingHttpHeaders; url: string | undefined }[] = [];
const receiver = createServer((request, response) => {
  void buffer(request).then((body) => {
    received.push({ body, headers: request.headers, url: request.url });
    response.end();
  });
});
beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
afterAll(() => void receiver.close());

/** Runs a program as a person pastes it. */
async function runBash(program: string): Promise<string> {
  const bash = spawn('bash', ['-e'], { env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret } });
  const errors = buffer(bash.stderr);
  bash.stdout.resume();
  bash.stdin.end(program);
  const [code] = await once(bash, 'close');
  return code === 0 ? '' : (await errors).toString();
}

const hostile = fc.constantFrom("'", '"', '`', '$(id)', '$HOME', '\\', '\\n', '!!', 'BODY', '\nBODY\n', '\r\n', '\n');
const text = fc
  .array(fc.oneof(hostile, fc.string({ unit: 'binary' }), fc.string()), { maxLength: 6 })
  .map((parts) => parts.join('').replaceAll('\0', '').toWellFormed());
const bodies = fc.oneof(
  text.map((note) => JSON.stringify({ id: 'evt_1', type: 'batch.failed', data: { note } })),
  fc.jsonValue().map((data) => JSON.stringify({ data }, null, 1)),
  text,
);
const paths = fc.constantFrom('/', "/it's", '/a?b={c}&d=[1-3]', '/%27$(id)', '/a/../b');

it('a copied curl sends exactly the bytes of the delivery, with signatures that verify', async () => {
  const { port } = receiver.address() as AddressInfo;
  const request = fc.record({ body: bodies, path: paths, agent: fc.constantFrom('hooks/1.0', "it's $HOME `id`") });
  await fc.assert(
    fc.asyncProperty(request, async ({ body, path, agent }) => {
      received.length = 0;
      const headers = { 'Content-Type': 'application/json', 'User-Agent': agent, 'webhook-id': 'evt_1' };
      expect(await runBash(curlOf({ url: `http://127.0.0.1:${port}${path}`, headers, body }))).toBe('');
      const [arrived] = received;
      expect(arrived?.body.equals(Buffer.from(body))).toBe(true);
      expect(arrived).toMatchObject({
        url: path,
        headers: { 'user-agent': agent, 'content-type': 'application/json' },
      });
      expect(arrived?.headers).toMatchObject(signaturesOf(body, arrived?.headers['webhook-timestamp']));
    }),
    { numRuns: 200 },
  );
});

it('a copied word of a command line is exactly the text, and a terminal finds nothing to obey in it', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      const word = shellWord(value);
      expect(word).not.toMatch(/\p{Cc}/u);
      expect(
        await runBash(`test "$(printf '%s|' ${word} | base64 -w 0)" = ${Buffer.from(`${value}|`).toString('base64')}`),
      ).toBe('');
    }),
    { numRuns: 200 },
  );
});

/** Both signatures of the contract, made by another program. */
function signaturesOf(body: string, timestamp: unknown) {
  const hmac = (key: string | Buffer, signed: string) => createHmac('sha256', key).update(signed);
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return {
    'x-service-signature': hmac(secret, body).digest('hex'),
    'webhook-signature': `v1,${hmac(key, `evt_1.${String(timestamp)}.${body}`).digest('base64')}`,
  };
}
