import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Environment } from '@enterprise-api/shared/runtime';
import { createApiClient, lockFolder, writeStateFile } from '@enterprise-api/testkit';
import { Interruption } from './interruption.ts';
import type { Arrival } from './receiver.ts';
import type { Terminal } from './terminal.ts';
import type { Connect } from './tour/api-request.ts';
import { bringUp, type Running } from './tour/bring-up.ts';
import { createArrivalLog } from './tour/deliveries.ts';
import { type DemoData, ensureDemoData } from './tour/demo-data.ts';
import { type DemoState, openDemoState } from './tour/demo-state.ts';
import type { GivenSettings } from './tour/settings.ts';
import { showDeliveries, type Verdict } from './tour/show.ts';
import { arrivalLine, closingWords, type DemoFacts } from './tour/words.ts';

export interface TourOptions {
  /** The folder of the clone. */
  project: string;
  /** Where the data of all runs are kept. */
  dataFolder: string;
  env: Environment;
  given: GivenSettings;
  /** True: end after the tour instead of serving. */
  demo: boolean;
  terminal: Terminal;
  /** Aborted with an Interruption when the user ends the run. */
  signal: AbortSignal;
}

/**
 * Starts the product with an internal service, asks it for work, and shows the deliveries of its events. The demo then ends; otherwise the product keeps running
 * until the signal aborts. Everything that was started is stopped before this function returns, whatever happens.
 *
 * @returns the exit code
 */
export async function runTour(options: TourOptions): Promise<number> {
  const { terminal, signal, dataFolder } = options;
  const life = new AbortController();
  signal.addEventListener('abort', () => life.abort(signal.reason));
  const resources = new AsyncDisposableStack();
  try {
    // 0711: PostgreSQL runs as another user when we are root, and must be able to pass through this folder.
    mkdirSync(dataFolder, { recursive: true, mode: 0o711 });
    resources.use(lockFolder(join(dataFolder, 'lock')));
  } catch (error) {
    return explainEnd(error, options);
  }
  try {
    return await tour(options, life, resources);
  } catch (error) {
    // After an abort its reason is the cause; the error only says that a request was cut off.
    return explainEnd(life.signal.aborted ? life.signal.reason : error, options);
  } finally {
    life.abort();
    await terminal.step('Stopping', async () => {
      await resources.disposeAsync();
      return 'Everything is stopped; the data are kept.';
    });
  }
}

async function tour(options: TourOptions, life: AbortController, resources: AsyncDisposableStack): Promise<number> {
  const { dataFolder, terminal } = options;
  const { signal } = life;
  const state = openDemoState(join(dataFolder, 'demo-state.json'));
  const arrivals = createArrivalLog();
  const onArrival = (arrival: Arrival) => {
    arrivals.add(arrival);
    (arrival.verified ? terminal.good : terminal.bad)(arrivalLine(arrival));
  };
  const onDeath = (error: Error) => life.abort(error);
  terminal.title('Starting');
  if (!options.demo) await packDownloads(options);
  if (!options.demo) await buildConsole(options);
  const running = await bringUp({ ...options, state, onArrival, onDeath, signal }, resources);
  const connect = connectTo(running, signal);
  const data = await ensureDemoData({ ...running, connect, receiverUrl: running.receiver.url, state });
  sayWhatIsThere(data, running, terminal);
  const facts = factsOf(data, running);
  writeStateFile(join(dataFolder, 'demo.json'), facts);
  const api = connect(data.apiKey);
  const verdict = await showDeliveries({ api, webhookId: facts.webhook_id, arrivals, terminal, signal });
  report(verdict, state, running.database, terminal);
  if (options.demo) return verdict.problems.length === 0 ? 0 : 1;
  return await serve(closingWords(facts, dataFolder), terminal, signal);
}

/** The API serves these at /docs/downloads. */
async function packDownloads({ project, terminal, signal }: TourOptions): Promise<void> {
  await terminal.step('Packing the SDK and the command line', async () => {
    await promisify(execFile)(process.execPath, ['tools/pack/main.ts', 'downloads'], { cwd: project, signal });
    return 'SDK and command line can be installed from /docs/downloads.';
  });
}

/** The API serves these pages at /console. */
async function buildConsole({ project, terminal, signal }: TourOptions): Promise<void> {
  await terminal.step('Building the console', async () => {
    await promisify(execFile)(process.execPath, ['packages/console/build.ts'], { cwd: project, signal });
    return 'The pages of the console are built.';
  });
}

function connectTo({ apiUrl, internalUrl, internalSecret }: Running, signal: AbortSignal): Connect {
  const listeners = { url: apiUrl, internalUrl };
  return (key) => createApiClient(listeners, { internalSecret, signal, ...(key !== undefined && { key }) });
}

function sayWhatIsThere(data: DemoData, { receiver }: Running, terminal: Terminal): void {
  const access = data.accessCreated ? 'created' : 'kept from the last run';
  terminal.good(`Demo organization and API key ${access}: ${data.organizationId}`);
  const webhook = { created: 'registered', updated: 'updated', kept: 'kept from the last run' }[data.webhookOutcome];
  terminal.good(`Webhook ${webhook}: ${data.webhook.id} at ${receiver.url}`);
}

function factsOf(data: DemoData, running: Running): DemoFacts {
  return {
    organization_id: data.organizationId,
    api_key: data.apiKey,
    webhook_id: data.webhook.id,
    api_url: running.apiUrl,
    internal_url: running.internalUrl,
    internal_secret: running.internalSecret,
    events_secret: running.eventsSecret,
    database_url: running.databaseUrl,
    worker_url: running.workerUrl,
    receiver_url: running.receiver.url,
    ca_file: running.caFile,
  };
}

function report(verdict: Verdict, state: DemoState, database: string, terminal: Terminal): void {
  for (const problem of verdict.problems) terminal.bad(problem);
  const known = state.database(database);
  if (!verdict.secretIsWrong || !known) return;
  const { webhook: _forgotten, ...rest } = known;
  state.setDatabase(database, rest);
  terminal.note("The webhook's secret was changed outside the demo: the next run registers a new webhook.");
}

async function serve(words: readonly string[], terminal: Terminal, signal: AbortSignal): Promise<number> {
  terminal.title('Serving; Ctrl-C stops everything');
  for (const line of words) terminal.line(line === '' ? '' : `  ${line}`);
  terminal.line();
  await new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', resolve);
  });
  if (signal.reason instanceof Interruption) return 0;
  throw signal.reason;
}

function explainEnd(error: unknown, { terminal, demo }: TourOptions): number {
  if (error instanceof Interruption) {
    terminal.note(`Interrupted (${error.signalName}).`);
    // Ctrl-C is the usual end of `make start`; make would report any other code as an error.
    return !demo && error.signalName === 'SIGINT' ? 0 : error.exitCode;
  }
  terminal.bad(error instanceof Error ? error.message : String(error));
  return 1;
}
