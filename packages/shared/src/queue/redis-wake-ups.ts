import type { RedisQueueBackend } from 'bullmq';
import { jobs, maxEventsPerJob } from './jobs.ts';
import { addWakeUp, takeWakeUps } from './redis-wake-up-scripts.ts';

/** Jobs that are taken together at most. More of them are for other workers, which may be less busy. */
const jobsAtOnce = 10;

const scripts = { addWakeUp, takeWakeUps };

/** The part of a client of Redis that BullMQ leaves open. */
interface ScriptClient {
  defineCommand(name: string, definition: { numberOfKeys: number; lua: string }): void;
  runCommand(name: string, args: (string | number)[]): Promise<unknown>;
}

type Run = (name: keyof typeof scripts, args: (string | number)[]) => Promise<unknown>;

/**
 * Makes an event of a quiet day cost the queue one script and one blocking command: BullMQ's own way is a script each to add a
 * job, to take it and to finish it. A wake-up owns nothing: one that is lost with its worker, or with its connection, leaves
 * its events in the outbox, where the relay finds them. All else that is in the queue is BullMQ's.
 */
export function handOverWakeUps(backend: RedisQueueBackend): void {
  const defined = new WeakSet<object>();
  const run: Run = async (name, args) => {
    const client = (await backend.connection.client) as unknown as ScriptClient;
    if (!defined.has(client)) {
      for (const [command, definition] of Object.entries(scripts)) client.defineCommand(command, definition);
      defined.add(client);
    }
    return client.runCommand(name, args);
  };
  addByOneScript(backend, run);
  takeAtOnce(backend, run);
}

const { name } = jobs.fanOut;

/** The keys of both scripts, and what the keys of jobs begin with. */
const keysOf = (backend: RedisQueueBackend, ...more: string[]) =>
  ['wait', 'meta', 'marker', 'looked', 'prioritized', 'delayed', ...more, ''].map((key) => backend.toKey(key));

function addByOneScript(backend: RedisQueueBackend, run: Run): void {
  const { addJob } = backend;
  const keys = keysOf(backend, 'id');
  backend.addJob = async (...args) => {
    const [job, id] = args;
    const { delay, priority, removeOnComplete } = job.opts;
    const isOurs = job.name === name && removeOnComplete === true && !id && !job.parentKey && !job.deduplicationId;
    const isPlain = isOurs && !delay && !priority;
    const added = isPlain
      ? await run('addWakeUp', [...keys, name, job.data, JSON.stringify(job.opts), job.timestamp])
      : null;
    return typeof added === 'string' ? added : addJob.apply(backend, args);
  };
}

/** What BullMQ makes a job of: its fields, its id, and two delays. */
type NextJob = [fields: object | null, id: string | null, rateLimitMs: number, delayUntil: number];

const noJob: NextJob = [null, null, 0, 0];

function takeAtOnce(backend: RedisQueueBackend, run: Run): void {
  const { waitForJob, moveToActive, moveToCompleted, moveToFailed, extendLocks } = backend;
  const keys = keysOf(backend);
  /** The jobs in hand by id, with the number of jobs that waited behind each. */
  const inHand = new Map<string, number>();
  let taken = 0;
  let handedOver: string | undefined;
  const jobOf = (data: string, waiting: number): NextJob => {
    taken += 1;
    const id = `taken-${taken}`;
    inHand.set(id, waiting);
    return [{ name, data, opts: {} }, id, 0, 0];
  };
  backend.waitForJob = async (seconds) => {
    const found = await waitForJob.call(backend, seconds);
    if (found?.member.startsWith('{')) handedOver = found.member;
    return found;
  };
  backend.moveToActive = async (...args) => {
    if (handedOver !== undefined) {
      const data = handedOver;
      handedOver = undefined;
      return jobOf(data, 0);
    }
    const result = (await run('takeWakeUps', [...keys, name, jobsAtOnce, maxEventsPerJob])) as
      | [ids: string, more: number, waiting: number]
      | null;
    if (result === null) return moveToActive.apply(backend, args);
    const [ids, more, waiting] = result;
    return jobOf(`{"version":1,"event_ids":[${ids}]${more === 1 ? ',"more_in_outbox":true' : ''}}`, waiting);
  };
  const finish = async (id: string, token: string, fetchNext: boolean) => {
    const waiting = inHand.get(id) ?? 0;
    inHand.delete(id);
    // What was added since is in the marker, for which the worker waits next.
    // Without an answer of Redis the worker waits as well: this job has ended, whatever comes next.
    const next = waiting > 0 ? () => backend.moveToActive(token).catch(() => noJob) : () => noJob;
    return { finishedOn: Date.now(), result: fetchNext ? await next() : undefined };
  };
  backend.moveToCompleted = (...args) => {
    const [{ id = '' }, , , token, fetchNext] = args;
    return inHand.has(id) ? finish(id, token, fetchNext) : moveToCompleted.apply(backend, args);
  };
  backend.moveToFailed = (...args) => {
    const [{ id = '' }, , , token, fetchNext] = args;
    return inHand.has(id) ? finish(id, token, fetchNext) : moveToFailed.apply(backend, args);
  };
  // A job in hand has no lock: no other worker can take it.
  backend.extendLocks = async (ids, tokens, duration) => {
    const locked = ids.map((id, index) => ({ id, token: tokens[index] ?? '' })).filter(({ id }) => !inHand.has(id));
    if (locked.length === 0) return [];
    return extendLocks.call(
      backend,
      locked.map(({ id }) => id),
      locked.map(({ token }) => token),
      duration,
    );
  };
}
