import type { RedisQueueBackend } from 'bullmq';
import { jobs, maxEventsPerJob } from './jobs.ts';

/** Jobs that are taken together at most. More of them are for other workers, which may be less busy. */
const jobsAtOnce = 10;

/**
 * Takes the wake-ups that wait longest out of the queue, and removes them at once: a job of this kind owns nothing. Returns
 * the id of the first, their event ids as the inside of a JSON array, whether there is more in the outbox, and how many still
 * wait; nothing when there is none, or the first of them is anything else than the latest version of this job as its producer
 * writes it: BullMQ's own script then decides. The marker wakes idle workers. It stays only while a job waits.
 *
 * KEYS: wait, meta, marker. ARGV: what job keys begin with, the name of the job, jobs at most, events at most.
 */
const script = `
local state = redis.call('HMGET', KEYS[2], 'paused', 'concurrency', 'max')
if state[1] or state[2] or state[3] then return false end
local first, ids, events, more = false, '', 0, 0
for _ = 1, tonumber(ARGV[3]) do
  local id = redis.call('LINDEX', KEYS[1], -1)
  if not id then break end
  local job = redis.call('HMGET', ARGV[1] .. id, 'name', 'data')
  if job[1] ~= ARGV[2] or not job[2] then break end
  local found, rest = string.match(job[2], '^{"version":1,"event_ids":%[([%x%-",]+)%](.*)}$')
  if not found or (rest ~= '' and rest ~= ',"more_in_outbox":true') then break end
  local _, quotes = string.gsub(found, '"', '')
  if first and events + quotes / 2 > tonumber(ARGV[4]) then break end
  redis.call('RPOP', KEYS[1])
  redis.call('DEL', ARGV[1] .. id)
  events = events + quotes / 2
  ids = first and (ids .. ',' .. found) or found
  if rest ~= '' then more = 1 end
  first = first or id
end
if not first then return false end
local waiting = redis.call('LLEN', KEYS[1])
if waiting > 0 then redis.call('ZADD', KEYS[3], 0, '0') else redis.call('ZREM', KEYS[3], '0') end
return { first, ids, more, waiting }`;

const command = 'takeWakeUps';

/** The part of a client of Redis that BullMQ leaves open. */
interface ScriptClient {
  defineCommand(name: string, definition: { numberOfKeys: number; lua: string }): void;
  runCommand(name: string, args: (string | number)[]): Promise<[string, string, number, number] | null>;
}

/** What BullMQ makes a job of: its fields, its id, and two delays. */
type NextJob = [fields: object | null, id: string | null, rateLimitMs: number, delayUntil: number];

const noJob: NextJob = [null, null, 0, 0];

/**
 * Has a worker take wake-ups by one script each time, several at once, instead of one to take a job and another to finish it.
 * A worker that dies with such a job in hand loses a wake-up; its events are in the outbox, where the relay finds them.
 */
export function takeWakeUpsAtOnce(backend: RedisQueueBackend): void {
  const { moveToActive, moveToCompleted, moveToFailed, extendLocks } = backend;
  const defined = new WeakSet<object>();
  /** The jobs in hand by id, with the number of jobs that waited behind each. */
  const inHand = new Map<string, number>();
  const take = async (): Promise<NextJob | null> => {
    const client = (await backend.connection.client) as unknown as ScriptClient;
    if (!defined.has(client)) client.defineCommand(command, { numberOfKeys: 3, lua: script });
    defined.add(client);
    const keys = [backend.toKey('wait'), backend.toKey('meta'), backend.toKey('marker')];
    const taken = await client.runCommand(command, [
      ...keys,
      backend.toKey(''),
      jobs.fanOut.name,
      jobsAtOnce,
      maxEventsPerJob,
    ]);
    if (taken === null) return null;
    const [id, ids, more, waiting] = taken;
    inHand.set(id, waiting);
    const data = `{"version":1,"event_ids":[${ids}]${more === 1 ? ',"more_in_outbox":true' : ''}}`;
    return [{ name: jobs.fanOut.name, data, opts: {} }, id, 0, 0];
  };
  const finish = async (id: string | undefined, token: string, fetchNext: boolean) => {
    const waiting = inHand.get(id ?? '') ?? 0;
    inHand.delete(id ?? '');
    const finished = { finishedOn: Date.now() };
    if (!fetchNext) return { ...finished, result: undefined };
    // One that was added since has set the marker, for which the worker waits next.
    return { ...finished, result: waiting > 0 ? await backend.moveToActive(token) : noJob };
  };
  const isInHand = (id: string | undefined) => id !== undefined && inHand.has(id);
  backend.moveToActive = async (...args) => (await take()) ?? (await moveToActive.apply(backend, args));
  backend.moveToCompleted = (...args) => {
    const [job, , , token, fetchNext] = args;
    return isInHand(job.id) ? finish(job.id, token, fetchNext) : moveToCompleted.apply(backend, args);
  };
  backend.moveToFailed = (...args) => {
    const [job, , , token, fetchNext] = args;
    return isInHand(job.id) ? finish(job.id, token, fetchNext) : moveToFailed.apply(backend, args);
  };
  // A job in hand has no lock: no other worker can take it.
  backend.extendLocks = async (ids, tokens, duration) => {
    const locked = ids.flatMap((id, index) => (inHand.has(id) ? [] : [index]));
    if (locked.length === 0) return [];
    return extendLocks.call(
      backend,
      locked.map((index) => ids[index] as string),
      locked.map((index) => tokens[index] as string),
      duration,
    );
  };
}
