import { maxEventStreams } from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';

export type StreamSlots = ReturnType<typeof createStreamSlots>;

export interface SlotStore {
  eval(script: string, keys: number, ...rest: (string | number)[]): Promise<unknown>;
}

interface StreamSlotsOptions {
  /** If undefined, each process counts only its own streams. */
  store: SlotStore | undefined;
  onError: (error: unknown) => void;
}

export const renewSlotsEveryMs = 10_000;
/** Three and a half renewal intervals, so that a slot survives two failed renewals. */
const leaseMs = 35_000;

/** Keeps an organization's streams in a sorted set. The score is the slot's expiry time by Redis's clock. */
const takeScript = `
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('zadd', KEYS[1], now + tonumber(ARGV[2]), ARGV[3])
redis.call('pexpire', KEYS[1], ARGV[2])
return 1`;
const renewScript = `
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for index = 2, #ARGV do redis.call('zadd', KEYS[1], now + tonumber(ARGV[1]), ARGV[index]) end
redis.call('pexpire', KEYS[1], ARGV[1])`;
const giveScript = `redis.call('zrem', KEYS[1], ARGV[1])`;

/**
 * Limits the open streams of an organization. While Redis does not answer, the streams of other processes are unknown,
 * so each process allows the full limit.
 */
export function createStreamSlots({ store, onError }: StreamSlotsOptions) {
  const taken = new Map<Uuid, Set<Uuid>>();
  const ask = async (script: string, organizationId: Uuid, ...rest: (string | number)[]) =>
    await store?.eval(script, 1, `enterprise-api-streams:${organizationId}`, ...rest);
  const forget = (organizationId: Uuid, streamId: Uuid) => {
    const streams = taken.get(organizationId);
    streams?.delete(streamId);
    if (streams?.size === 0) taken.delete(organizationId);
  };
  return {
    take: async (organizationId: Uuid, streamId: Uuid): Promise<boolean> => {
      const streams = taken.get(organizationId) ?? new Set();
      if (streams.size >= maxEventStreams) return false;
      taken.set(organizationId, streams.add(streamId));
      try {
        if ((await ask(takeScript, organizationId, maxEventStreams, leaseMs, streamId)) !== 0) return true;
      } catch (error) {
        onError(error);
        return true;
      }
      forget(organizationId, streamId);
      return false;
    },
    give: (organizationId: Uuid, streamId: Uuid): void => {
      forget(organizationId, streamId);
      void ask(giveScript, organizationId, streamId).catch(onError);
    },
    /** Renews the slots of this process's streams. Unrenewed slots expire. */
    renew: async (): Promise<void> => {
      const all = [...taken].map(([organizationId, streams]) => ask(renewScript, organizationId, leaseMs, ...streams));
      await Promise.all(all).catch(onError);
    },
  };
}
