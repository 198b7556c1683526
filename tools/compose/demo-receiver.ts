import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, exitWithBadSettings, parseEnvironment } from '@enterprise-api/shared/runtime';
import { writeStateFile } from '@enterprise-api/testkit';
import { z } from 'zod';
import { onInterruption } from '../dev/interruption.ts';
import { type DemoReceiver, startDemoReceiver } from '../dev/receiver.ts';
import { loadReceiverCertificate } from '../dev/tour/certificate.ts';
import { type Client, createClient } from '../dev/tour/client.ts';
import { emitOneOfEach } from '../dev/tour/deliveries.ts';
import { type DemoState, openDemoState } from '../dev/tour/demo-state.ts';
import { ensureAccess } from '../dev/tour/seed.ts';
import { ensureWebhook } from '../dev/tour/webhook.ts';
import { arrivalLine } from '../dev/tour/words.ts';

// The service `demo-receiver` of docker-compose.yml: a customer's endpoint that registers itself through the API, has
// one event of each type sent to it, and says of each delivery whether its signature verified.
const host = 'demo-receiver';
const port = 8443;
/** What it keeps: its certificate, its API key, its webhook's secret. */
const stateFolder = '/var/lib/demo-receiver';
/** Its authority's certificate, on the volume that the workers have as WEBHOOK_CA_FILE. */
const sharedCaFile = '/var/lib/demo-ca/ca.pem';

const shape = { API_URL: z.url(), INTERNAL_URL: z.url(), INTERNAL_API_SECRET: z.string() };
type Settings = z.output<z.ZodObject<typeof shape>>;

const say = (line: string) => void process.stdout.write(`${line}\n`);

async function run(env: Environment, signal: AbortSignal): Promise<void> {
  const parsed = parseEnvironment(shape, env, { secrets: ['INTERNAL_API_SECRET'], known: [] });
  if (!parsed.ok) exitWithBadSettings('demo-receiver', parsed.problems);
  const settings = parsed.settings;
  const certificate = await loadReceiverCertificate(stateFolder, undefined, [host, 'localhost']);
  copyFileSync(certificate.caFile, sharedCaFile);
  const onArrival = (arrival: Parameters<typeof arrivalLine>[0]) => say(arrivalLine(arrival));
  await using receiver = await startDemoReceiver({ host: '0.0.0.0', port, ...certificate, onArrival });
  const state = openDemoState(join(stateFolder, 'demo-state.json'));
  const [secret = ''] = settings.INTERNAL_API_SECRET.split(',');
  const internal = createClient({ baseUrl: settings.INTERNAL_URL, token: secret.trim(), signal });
  const organizationId = await register(settings, internal, receiver, state, signal);
  for await (const event of emitOneOfEach(internal, organizationId)) say(`${event.type.padEnd(22)} emitted`);
  await new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', resolve);
  });
}

/** Finds or makes the demo's organization, key and webhook, and writes down what somebody needs to try the API. */
async function register(
  settings: Settings,
  internal: Client,
  receiver: DemoReceiver,
  state: DemoState,
  signal: AbortSignal,
): Promise<string> {
  const name = 'compose';
  const url = `https://${host}:${port}/webhooks`;
  const known = state.database(name);
  // Deliveries of an earlier run may come at any moment.
  if (known?.webhook) receiver.setSecret(known.webhook.secret);
  const clientOf = (token: string) => createClient({ baseUrl: settings.API_URL, token, signal });
  const { organizationId, apiKey, created } = await ensureAccess(internal, clientOf, known);
  // The services' encryption keys are none of a customer's business: .env keeps them the same.
  const { webhook } = await ensureWebhook(clientOf(apiKey), url, created ? undefined : known?.webhook, [name]);
  receiver.setSecret(webhook.secret);
  state.setDatabase(name, { organization_id: organizationId, api_key: apiKey, webhook });
  const factsFile = join(stateFolder, 'demo.json');
  const facts = { organization_id: organizationId, api_key: apiKey, webhook_id: webhook.id, receiver_url: url };
  writeStateFile(factsFile, facts);
  say(`Webhook ${webhook.id} of ${organizationId} at ${url}`);
  say(`The API key to try it with: docker compose exec ${host} cat ${factsFile}`);
  return organizationId;
}

const signal = onInterruption();
try {
  await run(process.env, signal);
} catch (error) {
  if (!signal.aborted) {
    process.stderr.write(`demo-receiver: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
