import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
import {
  createApiClient,
  createApiCustomer,
  freePorts,
  type GuardedProcess,
  openStage,
  type Stage,
  startUpstream,
  until,
} from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createCommandLine } from './command-line.ts';

// Processes start and end several times in a test.
jest.setTimeout(180_000);
const withinMs = 60_000;

/** The program against the real API: one process that is killed and started again, another one through which events come. */
describe('enterprise-api listen, with the real API', () => {
  let stage: Stage;
  let resources: AsyncDisposableStack;

  beforeAll(async () => {
    stage = await openStage({ redisUrl: undefined });
  });
  afterAll(async () => await stage[Symbol.asyncDispose]());
  beforeEach(() => {
    resources = new AsyncDisposableStack();
  });
  afterEach(async () => await resources.disposeAsync());

  async function openScene() {
    const [port = 0, internalPort = 0] = await freePorts(2);
    const startApi = () => stage.startApi({ API_PORT: String(port), INTERNAL_PORT: String(internalPort) });
    const api = await startApi();
    const producing = await stage.startApi();
    const { organizationId, key } = await createApiCustomer(producing);
    const { emit } = createApiClient(producing);
    const local = resources.use(await startUpstream());
    const cli = resources.use(createCommandLine({ ENTERPRISE_API_URL: api.url, ENTERPRISE_API_KEY: key }));
    let made = 0;
    /** @returns the ids of the events */
    const emitSome = async (count: number): Promise<string[]> => {
      const events = Array.from({ length: count }, () => ({
        organization_id: organizationId,
        type: 'batch.completed' as const,
        data: { batch_id: `bat_${made++}` },
      }));
      const { body } = await emit(events);
      return body.data.map(({ id }: { id: string }) => id);
    };
    const listen = async (...args: string[]) =>
      resources.use(await cli.start(['listen', '--forward-to', `${local.url}/hooks`, '--json', ...args]));
    return { api, startApi, local, emitSome, listen };
  }

  const records = (listening: GuardedProcess) =>
    listening.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, string>);
  const forwarded = (listening: GuardedProcess) =>
    records(listening).flatMap(({ object, event_id }) => (object === 'forwarded' ? [event_id] : []));
  const sessions = (listening: GuardedProcess) =>
    records(listening).flatMap(({ object, secret = '' }) => (object === 'session' ? [secret] : []));
  const untilListening = (listening: GuardedProcess) =>
    until('the stream has begun', () => sessions(listening).length > 0, { withinMs });
  const untilForwarded = (listening: GuardedProcess, ids: string[]) =>
    until('every event is forwarded', () => ids.every((id) => forwarded(listening).includes(id)), { withinMs });

  it('forwards each event, signed with the secret that it printed, and ends its stream with Ctrl-C', async () => {
    const { local, emitSome, listen } = await openScene();
    const before = await emitSome(2);
    const listening = await listen();
    await untilListening(listening);
    const ids = await emitSome(3);
    await untilForwarded(listening, ids);
    expect(forwarded(listening)).not.toEqual(expect.arrayContaining(before));
    for (const { headers, body } of local.requests) {
      const event = await verifyWebhook({ headers, rawBody: body, secret: sessions(listening) });
      expect(headers).toMatchObject({
        'x-service-event-id': event.id,
        'x-service-attempt': '1',
        'x-service-delivery-id': expect.stringMatching(/^dlv_[0-9a-z]{26}$/),
      });
    }
    listening.kill('SIGINT');
    expect(await listening.exited).toEqual({ code: 130, signal: null });
  });

  it('leaves out no event and forwards none twice when the API is killed and started again', async () => {
    const { api, startApi, local, emitSome, listen } = await openScene();
    await emitSome(1);
    const listening = await listen();
    await untilListening(listening);
    const ids = await emitSome(4);
    await untilForwarded(listening, ids.slice(0, 1));
    api.kill('SIGKILL');
    await api.exited;
    ids.push(...(await emitSome(5)));
    await until('the loss is noticed', () => listening.lines.some((line) => line.includes('was lost')), { withinMs });
    const second = await startApi();
    ids.push(...(await emitSome(5)));
    await untilForwarded(listening, ids);
    second.kill('SIGKILL');
    await second.exited;
    await startApi();
    ids.push(...(await emitSome(2)));
    await untilForwarded(listening, ids);
    expect(forwarded(listening).sort()).toEqual(ids.sort());
    const received = local.requests.map(({ headers }) => headers['x-service-event-id']);
    expect(received.sort()).toEqual(ids);
    const secrets = sessions(listening);
    for (const { headers, body } of local.requests) await verifyWebhook({ headers, rawBody: body, secret: secrets });
  });

  it('misses nothing when the stream is lost before the first event that the organization ever has', async () => {
    const { api, startApi, emitSome, listen } = await openScene();
    const listening = await listen();
    await untilListening(listening);
    api.kill('SIGKILL');
    await api.exited;
    const ids = await emitSome(3);
    await startApi();
    await untilForwarded(listening, ids);
    expect(forwarded(listening).sort()).toEqual(ids.sort());
  });

  it('begins after the event that it is told, and takes the types that it is told', async () => {
    const { emitSome, listen } = await openScene();
    const [first = '', ...rest] = (await emitSome(3)).sort();
    const listening = await listen('--after', first, '--events', 'batch.*');
    const more = await emitSome(1);
    await untilForwarded(listening, more);
    expect(forwarded(listening).filter((id = '') => !rest.includes(id))).toEqual(more);
    const others = await listen('--events', 'consultation.failed', '--after', 'evt_7zzzzzzzzzzzzzzzzzzzzzzzzz');
    expect(await others.exited).toEqual({ code: 5, signal: null });
    expect(others.lines).toContainEqual(expect.stringContaining('404 not_found'));
  });
});
