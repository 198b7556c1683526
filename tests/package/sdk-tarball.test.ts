import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ApiCustomer,
  createApiCustomer,
  freePorts,
  openStage,
  type Stage,
  spawnGuarded,
  startUpstream,
  testWebhookSecret,
  type Upstream,
  until,
} from '@enterprise-api/testkit';
import { describeWith } from '@enterprise-api/testkit/toolchains';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import got from 'got';
import { Webhook } from 'standardwebhooks';
import { createEmptyFolder } from './empty-folder.ts';
import { readmeExamples } from './readme-examples.ts';

const root = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const consumer = createEmptyFolder();
let stage: Stage;
let upstream: Upstream;
let customer: ApiCustomer;
let env: Record<string, string>;

beforeAll(async () => {
  stage = await openStage({ redisUrl: undefined });
  const created = '{"id":"con_1"}';
  const head = `HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: ${created.length}\r\n\r\n`;
  upstream = await startUpstream({ answer: () => head + created });
  const api = await stage.startApi({ API_UPSTREAMS: `consultations=${upstream.url}` });
  customer = await createApiCustomer(api);
  env = { ENTERPRISE_API_KEY: customer.key, ENTERPRISE_API_URL: api.url };
  await consumer.install(await consumer.pack('sdk'), `@types/node@${root.devDependencies['@types/node']}`);
  for (const [name, text] of Object.entries(readmeExamples)) writeFileSync(join(consumer.path, name), text);
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await upstream.close();
  consumer.remove();
});

const body = JSON.stringify({
  id: 'evt_1',
  type: 'batch.completed',
  timestamp: '2026-11-21T07:00:00.000Z',
  organization_id: 'org_1',
  data: { batch_id: 'bat_1' },
});
const signed = { 'x-service-signature': createHmac('sha256', testWebhookSecret).update(body).digest('hex') };

describe('the package @enterprise-api/sdk, installed in an empty folder', () => {
  it.each([
    ['node16', ['--module', 'node16', '--moduleResolution', 'node16']],
    ['bundler', ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ])('is typed under moduleResolution %s: the examples of its README compile, strictly', async (_name, resolution) => {
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--verbatimModuleSyntax'];
    const runtime = ['--noEmit', '--target', 'es2022', '--lib', 'es2023,dom', '--types', 'node'];
    expect(await consumer.tsc(...Object.keys(readmeExamples), ...strict, ...resolution, ...runtime)).toBe('');
  });

  it('tells a wrong field from a right one', async () => {
    const wrong =
      "import { EnterpriseApi } from '@enterprise-api/sdk';\nnew EnterpriseApi({ apiKey: '', baseUrl: '' }).webhooks.create({ urls: '' });\n";
    writeFileSync(join(consumer.path, 'wrong.ts'), wrong);
    await expect(consumer.tsc('wrong.ts', '--noEmit', '--module', 'nodenext', '--types', 'node')).rejects.toThrow(
      /'urls' does not exist in type/,
    );
  });

  it('has types for its verifier that need neither Node.js nor a browser', async () => {
    const program =
      "import { verifyWebhook } from '@enterprise-api/sdk/webhooks';\nexport const read = verifyWebhook;\n";
    writeFileSync(join(consumer.path, 'bare.ts'), program);
    const bare = ['--noEmit', '--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022', '--types', ''];
    expect(await consumer.tsc('bare.ts', '--strict', ...bare)).toBe('');
  });

  it('runs: the client of the README', async () => {
    const said = await consumer.node(['client.ts'], env);
    expect(said.split('\n')).toEqual([
      'I am test key of Acme',
      'webhook registered: only now is there a secret, whsec_…',
      '404: There is no such resource.',
    ]);
    const { data } = (await customer.call('GET', '/v1/webhooks')).body;
    expect(data).toMatchObject([{ description: 'Nightly batches', enabled: false, events: ['batch.*'] }]);
  });

  it('runs: the request to an area of the README', async () => {
    expect(await consumer.node(['areas.ts'], env)).toBe('201: con_…');
    const [request] = upstream.requests;
    expect(request?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(String(request?.body))).toEqual({ question: 'Is it open on Sunday?' });
  });

  it('runs: the stream of the README', async () => {
    await using follower = await spawnGuarded(process.execPath, [join(consumer.path, 'stream.ts')], { env });
    await until('it is connected', () => follower.lines.includes('connected'), { withinMs: 60_000 });
    const event = (type: 'batch.failed' | 'consultation.failed') => ({
      organization_id: customer.organizationId,
      type,
      data: { batch_id: 'bat_1', consultation_id: 'con_1' },
    });
    const { status, body: emitted } = await customer.emit([event('consultation.failed'), event('batch.failed')]);
    expect(status).toBe(202);
    expect((await follower.exited).code).toBe(0);
    expect(follower.lines).toEqual(['connected', `batch.failed ${emitted.data[1].id}`]);
  });

  it('runs: the receiver of the README', async () => {
    const [port = 0] = await freePorts(1);
    const settings = { WEBHOOK_SECRET: testWebhookSecret, PORT: String(port) };
    const receiver = await spawnGuarded(process.execPath, [join(consumer.path, 'receiver.ts')], { env: settings });
    try {
      await until('the receiver listens', () => receiver.lines.includes('listening'));
      const deliver = async (headers: Record<string, string>) => {
        const request = { body, headers, throwHttpErrors: false, retry: { limit: 0 } };
        return (await got.post(`http://127.0.0.1:${port}/`, request)).statusCode;
      };
      expect(await deliver(signed)).toBe(204);
      expect(await deliver({ 'x-service-signature': 'no' })).toBe(401);
      await until('the event is shown', () => receiver.lines.includes('batch.completed: bat_1'));
    } finally {
      await receiver.stop();
    }
  });

  it('runs: the handler of the README for runtimes of fetch', async () => {
    const handed = JSON.stringify({ secret: testWebhookSecret, body, signed });
    const program = `
      const { secret, body, signed } = ${handed};
      const { default: handler } = await import('./edge.ts');
      const ask = async (headers) => {
        const request = new Request('https://example.com/', { method: 'POST', headers, body });
        const response = await handler.fetch(request, { WEBHOOK_SECRET: secret });
        return response.status + await response.text();
      };
      console.log(await ask(signed), await ask({}));
    `;
    expect(await consumer.node(['--input-type=module', '--eval', program])).toBe('200evt_1 401');
  });

  it('has a verifier that imports nothing but its own files, and uses nothing that only Node.js has', () => {
    const files = globSync('node_modules/@enterprise-api/sdk/lib/webhooks/*.js', { cwd: consumer.path });
    expect(files.length).toBeGreaterThan(3);
    const sources = files.map((file) => readFileSync(join(consumer.path, file), 'utf8'));
    const imported = sources.flatMap((source) => [...source.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)]);
    expect(imported.map(([, name = '']) => name).filter((name) => !name.startsWith('./'))).toEqual([]);
    for (const source of sources) expect(source).not.toMatch(/\b(?:Buffer|process|global|require|setImmediate)\b/);
  });

  describeWith(['node20'], (oldNode) => {
    it('runs on Node.js 20, with both signatures', () => {
      const body = '{"id":"evt_1","type":"batch.failed","timestamp":"","organization_id":"","data":{}}';
      const now = new Date();
      const hex = { 'x-service-signature': createHmac('sha256', testWebhookSecret).update(body).digest('hex') };
      const standard = {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
        'webhook-signature': new Webhook(testWebhookSecret).sign('evt_1', now, body),
      };
      const program = `
      import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
      const [secret, rawBody, ...all] = process.argv.slice(1);
      for (const headers of all.map((text) => JSON.parse(text))) {
        const verdict = verifyWebhook({ headers, rawBody, secret });
        console.log(await verdict.then((event) => event.id, (error) => error.reason));
      }
    `;
      const inputs = [testWebhookSecret, body, ...[hex, standard, {}].map((headers) => JSON.stringify(headers))];
      const options = { cwd: consumer.path, encoding: 'utf8', timeout: 60_000 } as const;
      const said = execFileSync(oldNode, ['--input-type=module', '--eval', program, ...inputs], options);
      expect(said.trim().split('\n')).toEqual(['evt_1', 'evt_1', 'missing_signature']);
    });
  });
});
