import {
  type ApiClient,
  createApiClient,
  createApiCustomer,
  type ServiceProcess,
  until,
} from '@enterprise-api/testkit';
import { conclude, type Finding, stopAll, untilSettled } from '../faults/finding.ts';
import { type FaultStage, openFaultStage } from '../faults/stage.ts';
import { paths, recordArrivals } from './arrivals.ts';
import { type Emit, type MovingLoad, startMovingLoad } from './moving-load.ts';
import { emitByApi, makeLedgerOf, type Producer, startProducer, type Version } from './versions.ts';

/** An API of some version, with one customer. */
export interface RunningApi {
  readonly service: ServiceProcess;
  readonly client: ApiClient;
  readonly emit: Emit;
}

/** One ledger and one queue, on which the services of several versions come and go under load. */
export interface Rollout extends AsyncDisposable {
  readonly stage: FaultStage;
  readonly load: MovingLoad;
  /** The services that made the customer and its webhooks. */
  readonly first: { api: RunningApi; worker: ServiceProcess };
  startApi(version: Version): Promise<RunningApi>;
  startWorker(version: Version): Promise<ServiceProcess>;
  /** Ends with the rollout. */
  startProducer(version: Version): Promise<Producer>;
  /** Asks services to end. */
  stop(...services: readonly ServiceProcess[]): Promise<void>;
  /** Resolves when some more events were accepted, and all that were accepted by then have arrived. */
  phase(what: string): Promise<void>;
  /** Ends all emission for now; resolves when nothing is left to do, so that what is read does not change. */
  rest(): Promise<void>;
  /** Ends the load, waits until nothing is left to do, and audits. @param problems of the caller's own, in words */
  conclude(problems: readonly string[]): Promise<Finding>;
}

/** Each phase lasts until so many events more have been accepted. */
const eventsOfPhase = 20;

/** Seconds, mostly: this is for machines that do something else meanwhile. */
const patience = { withinMs: 120_000 };

const settings = { WEBHOOK_RETRY_SCHEDULE: '1s,2s,2s,2s,2s,2s', WEBHOOK_RETRY_JITTER: '0' };

/** Starts the services of a version on a ledger of its own migrations. */
export async function openRollout(redisUrl: string | undefined, version: Version): Promise<Rollout> {
  await using building = new AsyncDisposableStack();
  const stage = building.use(await openFaultStage({ redisUrl }, settings));
  await makeLedgerOf(version, stage);
  const arrivals = recordArrivals(stage.requests);
  const services = createServices(stage);
  const [service, worker] = await Promise.all([services.startApi(version), services.startWorker(version)]);
  const { isEarlier } = version;
  const { organizationId, key, createWebhook } = await createApiCustomer(service, { isEarlier });
  for (const path of paths) await createWebhook(stage.url(path));
  const clients = (api: ServiceProcess, of: Version): RunningApi => ({
    service: api,
    client: createApiClient(api, { key, isEarlier: of.isEarlier }),
    emit: emitByApi(api, organizationId, of),
  });
  const load = building.use(startMovingLoad());
  const place = { databaseUrl: stage.databaseUrl, redisUrl };
  const resources = building.move();
  return {
    stage,
    load,
    first: { api: clients(service, version), worker },
    startApi: async (of) => clients(await services.startApi(of), of),
    startWorker: services.startWorker,
    startProducer: async (of) => resources.use(await startProducer(of, place, organizationId)),
    stop: services.stop,
    phase: async (what) => {
      await load.accepts(eventsOfPhase);
      const keys = [...load.accepted];
      const holds = (missing: string[]) => missing.length === 0;
      await until(`all has arrived: ${what}`, () => arrivals.missing(keys), { holds, ...patience });
    },
    rest: async () => {
      await load.emitBy();
      await untilSettled(stage, load.accepted.length * paths.length, patience.withinMs);
    },
    conclude: async (problems) => {
      await load.stop();
      const deliveries = load.accepted.length * paths.length;
      await untilSettled(stage, deliveries, patience.withinMs);
      await services.stopRest();
      const { sentTwice } = arrivals;
      const figures = { accepted: load.accepted.length, 'emitted again': load.refusals.length, sentTwice };
      const checks = [...problems, ...services.problems, ...load.refusals.filter((reason) => !isStall(reason))];
      return await conclude(stage, deliveries, figures, {
        [`${sentTwice} attempts sent twice`]: sentTwice <= deliveries / 10,
        ...Object.fromEntries(checks.map((problem) => [problem, false])),
      });
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** A machine that stalls holds up the ledger, or a connection to it, for more than a second. */
function isStall(reason: string): boolean {
  return /^503 |timeout|timed out/i.test(reason);
}

function createServices(stage: FaultStage) {
  const running = new Set<ServiceProcess>();
  const problems: string[] = [];
  const track = (service: ServiceProcess) => {
    running.add(service);
    return service;
  };
  const stop = async (...services: readonly ServiceProcess[]) => {
    problems.push(...(await stopAll(services)), ...services.flatMap(unfitStatements));
    for (const service of services) running.delete(service);
  };
  const optionsOf = ({ folder }: Version) => ({ project: folder, ...patience });
  return {
    startApi: async (version: Version) => track(await stage.startApi({}, optionsOf(version))),
    startWorker: async (version: Version) => track(await stage.startWorker({}, optionsOf(version))),
    stop,
    stopRest: () => stop(...running),
    problems,
  };
}

/** Log lines about statements that the ledger refuses: a table, column or right that is not there, a constraint. */
function unfitStatements({ name, logs }: ServiceProcess): string[] {
  const isUnfit = (line: string) => /"code":"(22|23|42)\w{3}"/.test(line);
  const lines = logs().map((record) => JSON.stringify(record));
  return lines.filter(isUnfit).map((line) => `${name}: ${line}`);
}
