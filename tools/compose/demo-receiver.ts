import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, exitWithBadSettings, parseEnvironment } from '@enterprise-api/shared/runtime';
import { createApiClient, writeStateFile } from '@enterprise-api/testkit';
import { z } from 'zod';
import { onInterruption } from '../dev/interruption.ts';
import { startDemoReceiver } from '../dev/receiver.ts';
import { loadReceiverCertificate } from '../dev/tour/certificate.ts';
import { type DemoData, ensureDemoData } from '../dev/tour/demo-data.ts';
import { openDemoState } from '../dev/tour/demo-state.ts';
import { arrivalLine } from '../dev/tour/words.ts';
import { askForWork } from '../dev/tour/work.ts';

// The service `demo-receiver` of docker-compose.yml: a customer's endpoint. It registers its webhook through the API,
// asks for work that ends in each type of event, and prints for each delivery whether its signature was verified.
const host = 'demo-receiver';
const port = 8443;
const url = `https://${host}:${port}/webhooks`;
/** Keeps its certificate, its API key and its webhook's secret. */
const stateFolder = '/var/lib/demo-receiver';
/** The certificate of its authority, on a volume that the workers mount too: their WEBHOOK_CA_FILE. */
const sharedCaFile = '/var/lib/demo-ca/ca.pem';

const shape = { API_URL: z.url(), INTERNAL_URL: z.url(), INTERNAL_API_SECRET: z.string() };

const say = (line: string) => void process.stdout.write(`${line}\n`);

async function run(env: Environment, signal: AbortSignal): Promise<void> {
  const parsed = parseEnvironment(shape, env, { secrets: ['INTERNAL_API_SECRET'], known: [] });
  if (!parsed.ok) exitWithBadSettings('demo-receiver', parsed.problems);
  const { API_URL, INTERNAL_URL, INTERNAL_API_SECRET } = parsed.settings;
  const internalSecret = INTERNAL_API_SECRET.split(',')[0]?.trim() ?? '';
  const listeners = { url: API_URL, internalUrl: INTERNAL_URL };
  const connect = (key?: string) =>
    createApiClient(listeners, { internalSecret, signal, ...(key !== undefined && { key }) });
  const certificate = await loadReceiverCertificate(stateFolder, undefined, [host, 'localhost']);
  copyFileSync(certificate.caFile, sharedCaFile);
  const onArrival = (arrival: Parameters<typeof arrivalLine>[0]) => say(arrivalLine(arrival));
  await using receiver = await startDemoReceiver({ host: '0.0.0.0', port, ...certificate, onArrival });
  const state = openDemoState(join(stateFolder, 'demo-state.json'));
  const name = 'compose';
  // A customer does not know the services' encryption keys. In .env they stay the same, so any constant identifies them.
  const options = { connect, receiver, receiverUrl: url, state, database: name, encryptionKeys: [name] };
  const data = await ensureDemoData(options);
  writeFacts(data);
  for await (const work of askForWork(connect(data.apiKey).call)) {
    say(`${work.type.padEnd(22)}  will be the end of ${work.path}`);
  }
  await new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', resolve);
  });
}

/** Writes the ids and the API key with which a user can try the API. */
function writeFacts({ organizationId, apiKey, webhook }: DemoData): void {
  const file = join(stateFolder, 'demo.json');
  writeStateFile(file, {
    organization_id: organizationId,
    api_key: apiKey,
    webhook_id: webhook.id,
    receiver_url: url,
  });
  say(`Webhook ${webhook.id} of ${organizationId} at ${url}`);
  say(`The API key to try it with: docker compose --profile demo exec ${host} cat ${file}`);
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
