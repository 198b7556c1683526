import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
import { type GuardedProcess, type ReadRequest, startUpstream, type Upstream, until } from '@enterprise-api/testkit';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type EventStreamServer,
  type EventStreamServerOptions,
  startEventStreamServer,
} from '../../packages/sdk/src/testing/event-stream-server.ts';
import { type CommandLine, createCommandLine } from './command-line.ts';

/** The program against a stream that fails as planned; the real API is in listen-api.test.ts. */
describe('enterprise-api listen', () => {
  let cli: CommandLine;
  let local: Upstream;
  let resources: AsyncDisposableStack;

  beforeEach(async () => {
    resources = new AsyncDisposableStack();
    cli = resources.use(createCommandLine({ ENTERPRISE_API_KEY: 'nwk_test' }));
    local = resources.use(await startUpstream());
  });
  afterEach(async () => await resources.disposeAsync());

  const startServer = async (options: EventStreamServerOptions) => resources.use(await startEventStreamServer(options));
  const start = async (server: EventStreamServer, env: Record<string, string> = {}) => {
    const args = ['listen', '--forward-to', `${local.url}/hooks`, '--json', '--api-url', server.url];
    return resources.use(await cli.start(args, { env }));
  };
  const records = (listening: GuardedProcess) =>
    listening.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>);
  const forwarded = (listening: GuardedProcess) => records(listening).filter(({ object }) => object === 'forwarded');

  async function listenToAll(options: EventStreamServerOptions) {
    const server = await startServer(options);
    const listening = await start(server);
    await until('every event is forwarded', () => forwarded(listening).length >= options.count, { withinMs: 45_000 });
    return { server, listening };
  }

  it('forwards each event with exactly its headers and body, prints the answer and the secret that verifies it', async () => {
    const { server, listening } = await listenToAll({ count: 3, plan: () => ({ kind: 'stay' }) });
    const [session] = records(listening);
    expect(session).toEqual({ object: 'session', secret: server.secret() });
    expect(local.requests.map(bodyOf)).toEqual(server.events.map(({ body }) => body));
    for (const request of local.requests) {
      expect(request).toMatchObject({ method: 'POST', path: '/hooks' });
      const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
      expect(Object.keys(headers).sort()).toEqual(deliveryHeaders);
      const event = await verifyWebhook({ headers, rawBody: request.body, secret: server.secret() });
      expect(headers).toMatchObject({ 'x-service-event-id': event.id });
    }
    expect(forwarded(listening)).toMatchObject(
      server.events.map(({ id }) => ({
        event_id: id,
        event_type: 'batch.completed',
        delivery_id: expect.stringMatching(/^dlv_/),
        status: 200,
        error: null,
      })),
    );
    expect(listening.lines.join('\n')).not.toContain('nwk_test');
    listening.kill('SIGINT');
    expect(await listening.exited).toEqual({ code: 130, signal: null });
  });

  it('forwards every event once and in order although the stream is cut again and again', async () => {
    const { server } = await listenToAll({
      count: 12,
      plan: (connection) => (connection <= 4 ? { kind: 'cut', afterBytes: connection * 1_700 } : { kind: 'stay' }),
      repeats: true,
    });
    expect(local.requests.map(bodyOf)).toEqual(server.events.map(({ body }) => body));
    expect(server.lastEventIds.length).toBeGreaterThan(2);
  });

  it('signs with a secret of the user, which stays when the stream is cut', async () => {
    const secret = `whsec_${Buffer.from('a secret of the user himself'.padEnd(32)).toString('base64')}`;
    const server = await startServer({
      count: 4,
      plan: (connection) => (connection === 1 ? { kind: 'cut', afterBytes: 2_000 } : { kind: 'stay' }),
    });
    const listening = await start(server, { ENTERPRISE_API_LISTEN_SECRET: secret });
    await until('every event is forwarded', () => forwarded(listening).length === 4, { withinMs: 45_000 });
    expect(records(listening)[0]).toEqual({ object: 'session', secret: null });
    expect(listening.lines.join('\n')).not.toContain(server.secret());
    for (const { headers, body } of local.requests) {
      const { 'webhook-signature': standard = '', 'x-service-signature': hex = '', ...others } = headers;
      await verifyWebhook({ headers: { ...others, 'webhook-signature': standard }, rawBody: body, secret });
      await verifyWebhook({ headers: { 'x-service-signature': hex }, rawBody: body, secret });
    }
    const args = ['listen', '--forward-to', local.url, '--api-url', server.url];
    const refused = await cli.run(args, { env: { ENTERPRISE_API_LISTEN_SECRET: 'whsec_short' } });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a signing secret') });
  });

  it('does not forward what is not signed with the secret of the session', async () => {
    const tamper = (id: string, text: string) => (id.endsWith('0001') ? text.replace('bat_1', 'bat_9') : text);
    const server = await startServer({ count: 3, plan: () => ({ kind: 'stay' }), tamper });
    const listening = await start(server);
    await until('the last event is forwarded', () => forwarded(listening).length === 2, { withinMs: 45_000 });
    expect(listening.lines).toContainEqual(expect.stringContaining('0001 was not forwarded'));
    expect(local.requests.map(bodyOf)).toEqual([server.events[0]?.body, server.events[2]?.body]);
  });

  it('says when nothing listens locally, and goes on', async () => {
    await local.close();
    const { listening } = await listenToAll({ count: 2, plan: () => ({ kind: 'stay' }) });
    expect(forwarded(listening)).toMatchObject([{ status: null, error: 'ECONNREFUSED' }, { error: 'ECONNREFUSED' }]);
  });

  it.each([
    [401, 'unauthorized', 3],
    [403, 'forbidden_scope', 4],
    [410, 'event_expired', 5],
  ])('ends when the API refuses for good: %d %s', async (status, code, exitCode) => {
    const server = await startServer({ count: 0, plan: () => ({ kind: 'refuse', status, code }) });
    const listening = await start(server);
    expect(await listening.exited).toEqual({ code: exitCode, signal: null });
    expect(listening.lines).toContainEqual(expect.stringContaining(`(${status} ${code})`));
  });

  it('refuses a target that is no URL before it asks the API', async () => {
    const { code, stderr } = await cli.run([
      'listen',
      '--forward-to',
      'ftp://localhost/',
      '--api-url',
      'http://127.0.0.1:1',
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('--forward-to is not a URL.');
  });
});

const bodyOf = (request: ReadRequest) => request.body.toString('utf8');

const deliveryHeaders = [
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-signature',
  'webhook-timestamp',
  'x-service-attempt',
  'x-service-delivery-id',
  'x-service-event',
  'x-service-event-id',
  'x-service-signature',
];
