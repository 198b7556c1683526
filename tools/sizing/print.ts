import { machine, safety } from './figures.ts';
import type { Plan, Service } from './plan.ts';
import { durationOptions, numberOptions, type Workload } from './workload.ts';

/** The plan as an operator reads it. */
export function describePlan(plan: Plan, workload: Workload): string {
  const { rates, api, worker, postgres, redis, egressBytesPerSecond: egress } = plan;
  const { disk } = postgres;
  const lines = [
    `${amount(rates.average.events)} events/s and ${amount(rates.average.attempts)} attempts/s on average, ${amount(rates.peak.events)} and ${amount(rates.peak.attempts)} at the peak.`,
    '',
    ...table([
      ['', 'processes', 'busy cores: average, peak', 'memory of each: request, limit'],
      ['API', ...serviceCells(api)],
      ['worker', ...serviceCells(worker)],
    ]),
    '',
    ...table([
      ['', 'cores', 'busy: average, peak', 'memory'],
      ['PostgreSQL', String(postgres.cores), cores(postgres.busyCores), bytes(postgres.memory)],
      ...(redis === undefined ? [] : [['Redis', String(redis.cores), cores(redis.busyCores), bytes(redis.memory)]]),
    ]),
    '',
    ...table([
      ['disk of PostgreSQL', bytes(disk.withSafety)],
      ['  bodies', bytes(disk.bodies)],
      ['  history without bodies', bytes(disk.history)],
      ['  indexes', bytes(disk.indexes)],
      ['  a month being rewritten', bytes(disk.rewriting)],
      ['log (WAL) in a day', bytes(disk.logPerDay)],
      ['max_connections', String(postgres.connections)],
      ['attempts under way', amount(plan.attemptsInFlight)],
      ['sockets of a worker', amount(plan.socketsOfWorker)],
      ['to receivers', `${bits(egress.average)}, ${bits(egress.peak)} at the peak`],
    ]),
    '',
    `Kubernetes: overlays/${plan.overlay}. ${replicas(plan)}`,
    ...plan.notes.map((note) => `! ${note}`),
    '',
    `From figures of: ${machine}. Cores are ${safety.cores} × what the peak keeps busy, disks ${safety.disk} × the sum, memory ${safety.memory} ×.`,
    `Kept for ${amount(workload.retentionBodiesDays)} days (bodies) and ${amount(workload.retentionHistoryDays)} (history), and up to a month more. docs/operations/scale.md explains each figure.`,
  ];
  return `${lines.join('\n')}\n`;
}

function replicas({ overlay, api, worker }: Plan): string {
  if (overlay === 'small') return `replicas: ${api.least} API, ${worker.least} workers.`;
  return `HorizontalPodAutoscaler of the API: minReplicas ${api.least}, maxReplicas ${api.most}. ScaledObject of the workers: minReplicaCount ${worker.least}, maxReplicaCount ${worker.most}, fallback ${Math.floor((worker.least + worker.most) / 2)}.`;
}

function serviceCells({ least, most, because, busyCores, memory }: Service): string[] {
  const count = least === most ? `${least}` : `${least} to ${most}`;
  return [`${count} (${because})`, cores(busyCores), `${mebibytes(memory.request)}, ${mebibytes(memory.limit)}`];
}

function cores({ average, peak }: { average: number; peak: number }): string {
  return `${average.toFixed(2)}, ${peak.toFixed(2)}`;
}

function amount(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
}

function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  return `${amount(value / 1_000 ** unit)} ${units[unit]}`;
}

/** As Kubernetes has it. */
function mebibytes(value: number): string {
  return `${Math.ceil(value / 1_024 ** 2)} MiB`;
}

function bits(bytesPerSecond: number): string {
  return `${bytes(bytesPerSecond * 8).replace(/B$/, 'bit')}/s`;
}

/** Columns as wide as their widest cell. */
function table(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** What `--help` prints. */
export function usage(): string {
  const numbers = Object.entries<{ meaning: string; default?: string }>(numberOptions).map(
    ([name, { meaning, default: usual }]) => [`--${name}`, usual ?? 'required', meaning],
  );
  const durations = Object.entries(durationOptions).map(([name, { meaning, default: usual }]) => [
    `--${name}`,
    usual,
    `${meaning}; 0: for ever, sized for a year`,
  ]);
  const rows = [
    ...numbers,
    ...durations,
    ['--queue', 'redis', 'redis or postgres'],
    ['--json', '', 'the plan as JSON'],
  ];
  return `What a load needs: processes, cores, memory, disks.\n\n  npm run sizing -- --events-per-second 500 --webhooks-per-event 3 --payload-bytes 2048\n\n${table(rows).join('\n')}\n`;
}
