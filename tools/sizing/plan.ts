import { type Disk, daysOfMonth, diskOf, egressBytes } from './disk.ts';
import {
  connections,
  measuredMost,
  postgresMemory,
  processMemory,
  queueMemory,
  receiverConnections,
  safety,
} from './figures.ts';
import {
  apiProcesses,
  attemptsInFlight,
  mostProcesses,
  type Processes,
  ratesOf,
  reasons,
  workerProcesses,
} from './processes.ts';
import { busyCores, newConnectionShare, type Rates } from './processor-time.ts';
import type { Workload } from './workload.ts';

/** The processes of a service: how many always run, and how many at most. */
export interface Service {
  least: number;
  most: number;
  because: string;
  /** Cores that all of them keep busy on average, and in the busiest minute. */
  busyCores: { average: number; peak: number };
  /** Bytes of memory of one process that must be there, and the limit beyond which something is wrong. */
  memory: { request: number; limit: number };
}

interface Store {
  busyCores: { average: number; peak: number };
  /** With the safety factor, in whole cores. */
  cores: number;
  memory: number;
}

/** What a workload needs. */
export interface Plan {
  rates: { average: Rates; peak: Rates };
  api: Service;
  worker: Service;
  postgres: Store & { disk: Disk; connections: number };
  redis: Store | undefined;
  attemptsInFlight: number;
  /** Sockets of a worker, at most. */
  socketsOfWorker: number;
  egressBytesPerSecond: { average: number; peak: number };
  overlay: 'small' | 'production';
  notes: string[];
}

const mebibyte = 1_024 ** 2;
/** Two of each service may lose one; three let a machine be drained besides. */
const leastOf = { small: 2, production: 3 };

export function planFor(workload: Workload): Plan {
  const rates = { average: ratesOf(workload, 1), peak: ratesOf(workload, workload.peak) };
  const needed = {
    api: { average: apiProcesses(workload, rates.average), peak: apiProcesses(workload, rates.peak) },
    worker: { average: workerProcesses(workload, rates.average), peak: workerProcesses(workload, rates.peak) },
  };
  const isSmall = needed.api.peak.count <= leastOf.small && needed.worker.peak.count <= leastOf.small;
  const overlay = isSmall ? 'small' : 'production';
  const inFlight = attemptsInFlight(rates.peak.attempts, workload.latencyMs);
  const underWay = inFlight.recent + inFlight.slow;
  const api = service(needed.api, overlay, { bytes: processMemory.api.load, ...processMemory.api });
  const ofWorker = workerMemory(workload, underWay / needed.worker.peak.count);
  const worker = service(needed.worker, overlay, { ...processMemory.worker, bytes: ofWorker.bytes });
  const disk = diskOf(workload, rates.average);
  // One more of each during an update.
  const open = connections[workload.queue] * (api.most + worker.most + 2) + connections.spare;
  const plan: Plan = {
    rates,
    api,
    worker,
    postgres: {
      ...store('postgres', workload, rates),
      memory: memoryOfPostgres(workload, disk, open),
      disk,
      connections: open,
    },
    redis: workload.queue === 'redis' ? { ...store('redis', workload, rates), memory: redisMemory() } : undefined,
    attemptsInFlight: underWay,
    socketsOfWorker: Math.ceil(ofWorker.sockets),
    egressBytesPerSecond: {
      average: egressBytes(workload, rates.average.attempts),
      peak: egressBytes(workload, rates.peak.attempts),
    },
    overlay,
    notes: [],
  };
  return { ...plan, notes: notesOn(plan, workload) };
}

type Needed = Record<'average' | 'peak', Processes>;

interface ProcessMemory {
  bytes: number;
  requestMib: number;
  limitMib: number;
}

function service(needed: Needed, overlay: keyof typeof leastOf, memory: ProcessMemory): Service {
  const least = Math.max(leastOf[overlay], needed.average.count);
  const request = Math.max(memory.requestMib * mebibyte, memory.bytes * safety.memory);
  return {
    least,
    // The overlay small has no autoscaler.
    most: overlay === 'small' ? least : Math.max(least + 1, needed.peak.count),
    because: needed.peak.count <= leastOf[overlay] ? 'one may be lost' : needed.peak.because,
    busyCores: { average: needed.average.busyCores, peak: needed.peak.busyCores },
    memory: { request, limit: Math.max(memory.limitMib * mebibyte, request * 1.25) },
  };
}

/** A worker's memory under load: what it is without connections, its connections, and the bodies of what is under way. */
function workerMemory(workload: Workload, underWay: number): { bytes: number; sockets: number } {
  const { keptPerProcess, memoryBytes } = receiverConnections;
  const kept = Math.min(keptPerProcess, workload.webhooks ?? underWay);
  const connectionBytes = (underWay + kept) * memoryBytes;
  const bodies = Math.min(
    processMemory.bodies,
    (underWay + 4 * workload.workerConcurrency) * workload.payloadBytes * 2,
  );
  const measured = Math.max(processMemory.worker.load, processMemory.worker.rest + connectionBytes);
  return { bytes: measured + bodies, sockets: underWay + kept };
}

function store(part: 'redis' | 'postgres', workload: Workload, rates: Plan['rates']): Omit<Store, 'memory'> {
  const average = busyCores(part, rates.average, workload);
  const peak = busyCores(part, rates.peak, workload);
  return { busyCores: { average, peak }, cores: Math.max(1, Math.ceil(peak * safety.cores)) };
}

/** What was written lately, and each connection's own. */
function memoryOfPostgres({ retentionHistoryDays }: Workload, { history, indexes }: Disk, open: number): number {
  const { least, base, hoursOfRows, perConnection } = postgresMemory;
  const days = retentionHistoryDays + daysOfMonth;
  const lately = ((history + indexes) / days / 24) * hoursOfRows;
  return Math.max(least, (base + lately + open * perConnection) * safety.memory);
}

function redisMemory(): number {
  const { events, bytesPerEvent, wholeEvents, least } = queueMemory;
  return Math.max(least, (events * bytesPerEvent + wholeEvents) * 2);
}

/** What an operator should know beside the figures. */
function notesOn(plan: Plan, workload: Workload): string[] {
  const { rates, postgres, redis, worker } = plan;
  const times = Math.max(
    rates.peak.events / measuredMost.eventsPerSecond,
    rates.peak.attempts / measuredMost.deliveriesPerSecond,
  );
  const perWebhook = (20 * worker.least * 1_000) / workload.latencyMs;
  const opened = newConnectionShare(rates.average.attempts, workload, worker.least);
  const notes: [holds: boolean, text: string][] = [
    [
      times > 1,
      `The peak is ${times.toFixed(1)} × what was measured with one PostgreSQL: more than that is reckoned, not measured. Try it with your own load before you rely on it.`,
    ],
    [
      postgres.cores > 2,
      'No PostgreSQL of more than two cores was measured: that it uses more of them in proportion is an assumption.',
    ],
    [
      postgres.cores > 32,
      'Several cells share so much better than one PostgreSQL of more than 32 cores (docs/operations/cells.md).',
    ],
    [
      redis !== undefined && redis.cores > 1,
      'Redis uses one core, whatever it has: the queue itself may be the limit.',
    ],
    [
      plan.worker.most >= mostProcesses || plan.api.most >= mostProcesses,
      'A thousand processes do not carry it: divide it into cells (docs/operations/cells.md).',
    ],
    [
      worker.because === reasons.permits,
      'Fewer workers do with more attempts at once: try --worker-concurrency, and set WORKER_CONCURRENCY.',
    ],
    [
      perWebhook < rates.peak.attempts,
      `One webhook gets at most ${Math.floor(perWebhook).toLocaleString('en')} deliveries a second from ${worker.least} workers (WEBHOOK_ENDPOINT_CONCURRENCY 20, this latency).`,
    ],
    [
      opened > 0.1,
      `${Math.round(opened * 100)} % of the attempts open a connection: with so many webhooks, few are sent to within 30 s.`,
    ],
    [plan.socketsOfWorker > 3_000, 'Set LimitNOFILE, or the limit of the container, to 65,536.'],
    [
      workload.queue === 'postgres' && plan.overlay === 'production',
      'Several machines need Redis: without it each process counts rate limits for itself, and the production overlays do not start.',
    ],
  ];
  return notes.filter(([holds]) => holds).map(([, text]) => text);
}
