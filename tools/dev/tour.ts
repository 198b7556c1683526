import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '@enterprise-api/shared/runtime';
import { lockFolder, writeStateFile } from '@enterprise-api/testkit';
import { Interruption } from './interruption.ts';
import type { Arrival } from './receiver.ts';
import type { Terminal } from './terminal.ts';
import { bringUp, type Running } from './tour/bring-up.ts';
import { createClient } from './tour/client.ts';
import { createArrivalBook } from './tour/deliveries.ts';
import { type DemoState, openDemoState } from './tour/demo-state.ts';
import { ensureAccess } from './tour/seed.ts';
import type { GivenSettings } from './tour/settings.ts';
import { showDeliveries, type Verdict } from './tour/show.ts';
import { ensureWebhook } from './tour/webhook.ts';
import { arrivalLine, closingWords, type DemoFacts } from './tour/words.ts';

export interface TourOptions {
  /** The folder of the clone. */
  project: string;
  /** Where everything is kept from run to run. */
  dataFolder: string;
  env: Environment;
  given: GivenSettings;
  /** End after the tour instead of serving. */
  demo: boolean;
  terminal: Terminal;
  /** Aborted with an Interruption when somebody wants us to end. */
  signal: AbortSignal;
}

/**
 * Brings the product up, shows it at work and, unless it is the demo, keeps serving until somebody ends it. Whatever
 * happens, everything that was started is stopped again before it returns.
 *
 * @returns the exit code
 */
export async function runTour(options: TourOptions): Promise<number> {
  const { terminal, signal, dataFolder } = options;
  const life = new AbortController();
  signal.addEventListener('abort', () => life.abort(signal.reason));
  const resources = new AsyncDisposableStack();
  try {
    // Others may pass through it (PostgreSQL runs as another user when we are root), and read nothing in it.
    mkdirSync(dataFolder, { recursive: true, mode: 0o711 });
    resources.use(lockFolder(join(dataFolder, 'lock')));
  } catch (error) {
    return explainEnd(error, options);
  }
  try {
    return await tour(options, life, resources);
  } catch (error) {
    // What ended the run is worth telling, not the request that it cut short.
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
  const { dataFolder, terminal, given } = options;
  const { signal } = life;
  const state = openDemoState(join(dataFolder, 'demo-state.json'));
  const arrivals = createArrivalBook();
  const onArrival = (arrival: Arrival) => {
    arrivals.add(arrival);
    (arrival.verified ? terminal.good : terminal.bad)(arrivalLine(arrival));
  };
  const onDeath = (error: Error) => life.abort(error);
  terminal.title('Starting');
  const running = await bringUp({ ...options, given, state, onArrival, onDeath, signal }, resources);
  const facts = await setTheStage(running, state, terminal, signal);
  writeStateFile(join(dataFolder, 'demo.json'), facts);
  const verdict = await showDeliveries({
    internal: createClient({ baseUrl: running.internalUrl, token: running.internalSecret, signal }),
    client: createClient({ baseUrl: running.apiUrl, token: facts.api_key, signal }),
    organizationId: facts.organization_id,
    webhookId: facts.webhook_id,
    arrivals,
    terminal,
    signal,
  });
  report(verdict, state, running.database, terminal);
  if (options.demo) return verdict.problems.length === 0 ? 0 : 1;
  return await serve(facts, dataFolder, terminal, signal);
}

/** The demo organization, its key, its webhook: found again or made. */
async function setTheStage(
  running: Running,
  state: DemoState,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<DemoFacts> {
  const { apiUrl, internalUrl, internalSecret, receiver, database } = running;
  const known = state.database(database);
  // Deliveries of an earlier run may come at any moment.
  if (known?.webhook) receiver.setSecret(known.webhook.secret);
  const internal = createClient({ baseUrl: internalUrl, token: internalSecret, signal });
  const clientOf = (token: string) => createClient({ baseUrl: apiUrl, token, signal });
  const { organizationId, apiKey, created } = await ensureAccess(internal, clientOf, known);
  const base = { organization_id: organizationId, api_key: apiKey };
  const before = known?.organization_id === organizationId ? known.webhook : undefined;
  state.setDatabase(database, before ? { ...base, webhook: before } : base);
  terminal.good(
    `${created ? 'Demo organization and API key made' : 'Demo organization and API key as before'}: ${organizationId}`,
  );
  const registered = await ensureWebhook(clientOf(apiKey), receiver.url, before, running.encryptionKeys);
  receiver.setSecret(registered.webhook.secret);
  state.setDatabase(database, { ...base, webhook: registered.webhook });
  const outcome = { created: 'registered', updated: 'brought up to date', kept: 'as before' }[registered.outcome];
  terminal.good(`Webhook ${outcome}: ${registered.webhook.id} at ${receiver.url}`);
  return {
    ...base,
    webhook_id: registered.webhook.id,
    api_url: apiUrl,
    internal_url: internalUrl,
    internal_secret: internalSecret,
    worker_url: running.workerUrl,
    receiver_url: receiver.url,
    ca_file: running.caFile,
  };
}

function report(verdict: Verdict, state: DemoState, database: string, terminal: Terminal): void {
  for (const problem of verdict.problems) terminal.bad(problem);
  const known = state.database(database);
  if (!verdict.secretIsWrong || !known) return;
  const { webhook: _forgotten, ...rest } = known;
  state.setDatabase(database, rest);
  terminal.note("The webhook's secret was changed by somebody else: the next run registers the webhook anew.");
}

async function serve(facts: DemoFacts, folder: string, terminal: Terminal, signal: AbortSignal): Promise<number> {
  terminal.title('Serving; Ctrl-C stops everything');
  for (const line of closingWords(facts, folder)) terminal.line(line === '' ? '' : `  ${line}`);
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
    // Ctrl-C is how `make start` is meant to end, sooner or later; make would call anything but 0 an error.
    return !demo && error.signalName === 'SIGINT' ? 0 : error.exitCode;
  }
  terminal.bad(error instanceof Error ? error.message : String(error));
  return 1;
}
