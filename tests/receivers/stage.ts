import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Delivery, EmitEventInput } from '@enterprise-api/shared/contracts';
import {
  type ApiCustomer,
  createApiCustomer,
  createReceiverTrust,
  type GuardedProcess,
  openStage,
  spawnGuarded,
  until,
} from '@enterprise-api/testkit';
import type { ReceiverKind } from './kinds.ts';

/** A wait that a slow machine keeps too. */
export const withinMs = 60_000;

/** The product with one webhook, at an example receiver that is started and ended as a test asks. */
export interface ReceiverStage extends AsyncDisposable {
  readonly customer: ApiCustomer;
  readonly webhookId: string;
  /** The secret that the webhook was registered with. */
  readonly secret: string;
  /** Where the receiver keeps its events. */
  readonly folder: string;
  /** The certificate authority of the receiver, PEM. */
  readonly ca: string;
  /** The URL of the receiver that runs. */
  url(): string;
  /** (Re)starts the receiver with these secrets, and tells the API where it listens. */
  start(secrets: readonly string[]): Promise<void>;
  /** Ends the receiver as a power cut does. */
  kill(): Promise<void>;
  /** The id of a new event. */
  emit(data?: EmitEventInput['data']): Promise<string>;
  /** The delivery of an event to the webhook, once it satisfies the condition. */
  untilDelivery(eventId: string, holds: (delivery: Delivery) => boolean): Promise<Delivery>;
  /** How often all receivers so far did the work of an event. */
  handled(eventId: string): number;
}

export async function openReceiverStage(kind: ReceiverKind): Promise<ReceiverStage> {
  await using building = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'enterprise-api-receiver-'));
  building.defer(() => rmSync(folder, { recursive: true, force: true }));
  const { caFile, ca, tls } = await writeCertificate(folder, building);
  const settings = { WEBHOOK_CA_FILE: caFile, WEBHOOK_RETRY_SCHEDULE: '1s,2s,4s,8s,8s,8s,8s,8s,8s' };
  const stage = building.use(await openStage({ redisUrl: undefined, settings }));
  const [api, program] = await Promise.all([stage.startApi(), kind.prepare(folder), stage.startWorker()]);
  const customer = await createApiCustomer(api);
  const { id: webhookId, secret } = await customer.createWebhook('https://localhost:8443/webhooks');
  const receiver = building.use(createRunner(kind, program, { PORT: '0', ...tls, ...kind.settings(folder) }));
  const resources = building.move();
  return {
    customer,
    webhookId,
    secret,
    folder,
    ca,
    url: () => receiver.url(),
    start: async (secrets) => {
      await receiver.start(secrets);
      await customer.call('PATCH', `/v1/webhooks/${webhookId}`, { url: receiver.url() });
    },
    kill: () => receiver.kill(),
    emit: (data = {}) => emit(customer, data),
    untilDelivery: (eventId, holds) => untilDelivery(customer, `&event_id=${eventId}&webhook_id=${webhookId}`, holds),
    handled: (eventId) => receiver.lines.filter((line) => line.startsWith(`handled ${eventId} `)).length,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** The delivery that a query finds, once it satisfies the condition. */
export async function untilDelivery(
  customer: ApiCustomer,
  query: string,
  holds: (delivery: Delivery) => boolean,
): Promise<Delivery> {
  const find = async () => (await customer.deliveries(query))[0];
  const found = await until('the delivery', find, { holds: (each) => each !== undefined && holds(each), withinMs });
  return found as Delivery;
}

async function emit(customer: ApiCustomer, data: object): Promise<string> {
  const event: EmitEventInput = {
    organization_id: customer.organizationId as EmitEventInput['organization_id'],
    type: 'batch.completed',
    data: { batch_id: 'bat_1', note: 'grüße 🎉', ...data },
  };
  const { body } = await customer.emit([event]);
  return body.data[0].id;
}

async function writeCertificate(folder: string, building: AsyncDisposableStack) {
  const trust = building.use(await createReceiverTrust());
  const tls = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') };
  writeFileSync(tls.TLS_CERT_FILE, trust.certificate.cert);
  writeFileSync(tls.TLS_KEY_FILE, trust.certificate.key);
  return { caFile: trust.caFile, ca: trust.ca, tls };
}

interface Runner extends AsyncDisposable {
  readonly lines: readonly string[];
  url(): string;
  start(secrets: readonly string[]): Promise<void>;
  kill(): Promise<void>;
}

/** Runs one receiver at a time. */
function createRunner(
  kind: ReceiverKind,
  { command, args }: { command: string; args: string[] },
  settings: Record<string, string>,
): Runner {
  const lines: string[] = [];
  let running: GuardedProcess | undefined;
  let port: string | undefined;
  const kill = async () => {
    running?.kill('SIGKILL');
    await running?.exited;
  };
  return {
    lines,
    url: () => `https://localhost:${port}/webhooks`,
    start: async (secrets) => {
      await kill();
      port = undefined;
      const onLine = (line: string) => {
        lines.push(line);
        port ??= kind.listening.exec(line)?.[1];
      };
      const env = { PATH: process.env.PATH, HOME: process.env.HOME, WEBHOOK_SECRET: secrets.join(), ...settings };
      running = await spawnGuarded(command, args, { env, onLine });
      await until('the receiver listens', () => port, { withinMs });
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
