import { maxEventsPerJob } from './jobs.ts';

/**
 * What Redis does with wake-ups, in the keys of BullMQ. Its worker waits for members of the `marker` set: '0' says that a job
 * waits in the list. Here a wake-up for a worker that has nothing else to do is itself such a member.
 */

/** How a producer writes the data of a wake-up. Anything else, such as another version, is left to BullMQ's own scripts. */
const readData = `
local hex = function(digits) return string.rep('%x', digits) end
local uuid = '"' .. table.concat({ hex(8), hex(4), '[1-8]' .. hex(3), '[89abAB]' .. hex(3), hex(12) }, '%-') .. '"'
local function read(data)
  local ids, rest = string.match(data or '', '^{"version":1,"event_ids":%[([%x%-",]+)%](.*)}$')
  if ids and (rest == '' or rest == ',"more_in_outbox":true') then
    local separators, count = string.gsub(ids, uuid, '')
    if count <= ${maxEventsPerJob} and separators == string.rep(',', count - 1) then return ids, count, rest ~= '' end
  end
end
local function isPlain(meta, prioritized, delayed)
  local limits = redis.call('HMGET', meta, 'paused', 'concurrency', 'max')
  return not (limits[1] or limits[2] or limits[3]) and redis.call('EXISTS', prioritized, delayed) == 0
end`;

/** A worker that has nothing to do looks every 5 s. Without one for so long, wake-ups become jobs, which operators see. */
const looksWithinSeconds = 8;

/**
 * Adds a wake-up: as a member of the marker where nothing waits and a worker looks, for the one that has been idle longest; or
 * as a job. Returns the id of the job, an empty text where none was needed, or nothing where BullMQ has to decide.
 *
 * KEYS: wait, meta, marker, looked, prioritized, delayed, id. ARGV: what job keys begin with, name, data, options as JSON,
 * timestamp.
 */
export const addWakeUp = {
  numberOfKeys: 7,
  lua: `${readData}
if not isPlain(KEYS[2], KEYS[5], KEYS[6]) or not read(ARGV[3]) then return false end
if redis.call('ZCARD', KEYS[3]) == 0 and redis.call('LLEN', KEYS[1]) == 0 and redis.call('EXISTS', KEYS[4]) == 1 then
  redis.call('ZADD', KEYS[3], 0, ARGV[3])
  return ''
end
local id = tostring(redis.call('INCR', KEYS[7]))
redis.call('HSET', ARGV[1] .. id, 'name', ARGV[2], 'data', ARGV[3], 'opts', ARGV[4], 'timestamp', ARGV[5], 'delay', 0,
  'priority', 0)
redis.call('LPUSH', KEYS[1], id)
redis.call('ZADD', KEYS[3], 0, '0')
return id`,
};

/**
 * Takes the wake-ups that wait, members of the marker first, then jobs from the oldest on, and removes them at once: they own
 * nothing. Returns their event ids as the inside of a JSON array, whether there is more in the outbox, and how many jobs
 * still wait; nothing when the first job is anything else than a wake-up of ours, such as one that a flow or a scheduler waits
 * for, and while jobs are delayed or have priorities. '0' stays in the marker only while jobs wait.
 *
 * KEYS: wait, meta, marker, looked, prioritized, delayed. ARGV: what job keys begin with, name, jobs at most, events at most.
 */
export const takeWakeUps = {
  numberOfKeys: 6,
  lua: `${readData}
redis.call('SET', KEYS[4], 1, 'EX', ${looksWithinSeconds})
if not isPlain(KEYS[2], KEYS[5], KEYS[6]) then return false end
local all, events, more = {}, 0, 0
local function add(data)
  local ids, count, hasMore = read(data)
  if not ids or events > 0 and events + count > tonumber(ARGV[4]) then return false end
  all[#all + 1] = ids
  events = events + count
  if hasMore then more = 1 end
  return true
end
for _, member in ipairs(redis.call('ZRANGE', KEYS[3], 0, 9)) do
  if add(member) then redis.call('ZREM', KEYS[3], member) end
end
for _ = 1, tonumber(ARGV[3]) do
  local id = redis.call('LINDEX', KEYS[1], -1)
  if not id then break end
  local job = redis.call('HMGET', ARGV[1] .. id, 'name', 'data', 'opts', 'parentKey', 'rjk', 'deid')
  local isOurs = job[1] == ARGV[2] and not (job[4] or job[5] or job[6])
    and string.find(job[3] or '', '"removeOnComplete":true', 1, true)
  if not isOurs or not add(job[2]) then break end
  redis.call('RPOP', KEYS[1])
  redis.call('DEL', ARGV[1] .. id)
end
if events == 0 then return false end
local waiting = redis.call('LLEN', KEYS[1])
if waiting > 0 then redis.call('ZADD', KEYS[3], 0, '0') else redis.call('ZREM', KEYS[3], '0') end
return { table.concat(all, ','), more, waiting }`,
};
