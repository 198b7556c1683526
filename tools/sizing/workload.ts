import { parseArgs } from 'node:util';

/** What the product shall carry. */
export interface Workload {
  /** Averages over a day. */
  eventsPerSecond: number;
  webhooksPerEvent: number;
  /** API requests other than events, such as lists of deliveries. */
  requestsPerSecond: number;
  payloadBytes: number;
  /** Until a receiver has answered. */
  latencyMs: number;
  /** The share of deliveries that fail at every attempt of the schedule. */
  failing: number;
  /** The busiest minute against the average. */
  peak: number;
  /** Webhooks that events go to; undefined: few enough that each keeps its connections. */
  webhooks: number | undefined;
  workerConcurrency: number;
  retentionBodiesDays: number;
  retentionHistoryDays: number;
  queue: 'redis' | 'postgres';
}

/** What the arguments ask for: a workload, or what is wrong with them. */
export type Parsed =
  | { kind: 'workload'; workload: Workload; json: boolean }
  | { kind: 'help' }
  | { kind: 'problems'; problems: string[] };

/** What is kept for ever is sized for so long. */
const daysOfForever = 365;
const largestBody = 256 * 1_024;

interface NumberOption {
  meaning: string;
  /** Absent: the option must be given. */
  default?: string;
  from: number;
  to: number;
  /** More than `from`, and not that itself. */
  above?: true;
  whole?: true;
}

/** The options that are numbers, as `--help` tells them. */
export const numberOptions = {
  'events-per-second': { meaning: 'events accepted, on the average of a day', from: 0, above: true, to: 1e6 },
  'webhooks-per-event': { meaning: 'webhooks that an event goes to, on average', default: '1', from: 0, to: 100 },
  'requests-per-second': { meaning: 'other API requests, on average', default: '0', from: 0, to: 1e6 },
  'payload-bytes': { meaning: '`data` of an event as JSON', default: '1024', from: 2, to: largestBody, whole: true },
  'latency-ms': { meaning: 'until a receiver has answered', default: '100', from: 0, above: true, to: 60_000 },
  failing: { meaning: 'share of deliveries that fail to the end of the schedule', default: '0.01', from: 0, to: 1 },
  peak: { meaning: 'the busiest minute, as a multiple of the average', default: '3', from: 1, to: 1_000 },
  webhooks: {
    meaning: 'webhooks in all: with many, connections are opened anew',
    default: '0',
    from: 0,
    to: 1e7,
    whole: true,
  },
  'worker-concurrency': { meaning: 'WORKER_CONCURRENCY', default: '100', from: 1, to: 10_000, whole: true },
} satisfies Record<string, NumberOption>;

/** The options that are settings of the worker: a duration, or 0 for ever. */
export const durationOptions = {
  'retention-bodies': { meaning: 'RETENTION_BODIES', default: '720h' },
  'retention-history': { meaning: 'RETENTION_HISTORY', default: '2160h' },
};

type NumberName = keyof typeof numberOptions;

/** Reads the arguments of `npm run sizing`; all problems at once. */
export function parseWorkload(args: readonly string[]): Parsed {
  const problems: string[] = [];
  const values = readValues(args, problems);
  if (problems.length > 0) return { kind: 'problems', problems };
  if (values.help === true) return { kind: 'help' };
  const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined);
  const number = (name: NumberName) => readNumber(name, text(name), problems);
  const queue = text('queue') ?? 'redis';
  if (queue !== 'redis' && queue !== 'postgres') problems.push(`--queue is redis or postgres, not ${queue}`);
  const webhooks = number('webhooks');
  const workload: Workload = {
    eventsPerSecond: number('events-per-second'),
    webhooksPerEvent: number('webhooks-per-event'),
    requestsPerSecond: number('requests-per-second'),
    payloadBytes: number('payload-bytes'),
    latencyMs: number('latency-ms'),
    failing: number('failing'),
    peak: number('peak'),
    webhooks: webhooks === 0 ? undefined : webhooks,
    workerConcurrency: number('worker-concurrency'),
    ...readRetention(text, problems),
    queue: queue === 'postgres' ? 'postgres' : 'redis',
  };
  if (problems.length > 0) return { kind: 'problems', problems };
  return { kind: 'workload', workload, json: values.json === true };
}

function readValues(args: readonly string[], problems: string[]): Record<string, unknown> {
  const names = [...Object.keys(numberOptions), ...Object.keys(durationOptions), 'queue'];
  const options = {
    ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    json: { type: 'boolean' as const },
    help: { type: 'boolean' as const, short: 'h' },
  };
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false }).values;
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
    return {};
  }
}

function readNumber(name: NumberName, given: string | undefined, problems: string[]): number {
  const { default: usual, from, to, above, whole }: NumberOption = numberOptions[name];
  const text = given ?? usual;
  if (text === undefined) {
    problems.push(`--${name} is missing`);
    return from;
  }
  const value = /^\d+(\.\d+)?(e\d+)?$/.test(text) ? Number(text) : Number.NaN;
  const isInRange = value <= to && (above ? value > from : value >= from);
  if (isInRange && (!whole || Number.isInteger(value))) return value;
  const range = above ? `above ${from} and at most ${to}` : `from ${from} to ${to}`;
  problems.push(`--${name} is a ${whole ? 'whole ' : ''}number ${range}, not ${text}`);
  return from;
}

const hoursOf: Record<string, number> = { m: 1 / 60, h: 1, d: 24 };

/** The two periods in days, as they are sized. */
function readRetention(
  text: (name: string) => string | undefined,
  problems: string[],
): Pick<Workload, 'retentionBodiesDays' | 'retentionHistoryDays'> {
  const days = (name: keyof typeof durationOptions) =>
    readDays(name, text(name) ?? durationOptions[name].default, problems);
  const [bodies, history] = [days('retention-bodies'), days('retention-history')];
  if (bodies > history) problems.push('--retention-bodies is longer than --retention-history, which no worker accepts');
  const sized = history === Number.POSITIVE_INFINITY ? daysOfForever : history;
  // Bodies may be kept for longer than the year that a history for ever is sized for.
  return { retentionBodiesDays: Math.min(bodies, sized), retentionHistoryDays: sized };
}

/** A duration in days: infinite for 0, as in the settings. */
function readDays(name: string, text: string, problems: string[]): number {
  const [, count = '', unit = ''] = /^(\d+(?:\.\d+)?)(m|h|d)$/.exec(text === '0' ? '0h' : text) ?? [];
  const hours = Number(count) * (hoursOf[unit] ?? Number.NaN);
  if (hours === 0) return Number.POSITIVE_INFINITY;
  if (hours > 0 && hours <= 100 * 365 * 24) return hours / 24;
  problems.push(`--${name} is a duration such as 720h or 30d, or 0 for ever, not ${text}`);
  return Number.NaN;
}
