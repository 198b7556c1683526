import { type ServiceProcess, until } from '@enterprise-api/testkit';
import { apiEvent, type Posted, post } from './load.ts';

export type KeyedLoad = ReturnType<typeof createKeyedLoad>;

/** Emits events with keys, each once, and notes what was answered. */
export function createKeyedLoad(api: ServiceProcess, organizationId: string) {
  const accepted = new Set<string>();
  const acceptedAt: number[] = [];
  const refused: Posted[] = [];
  let n = 0;
  return {
    accepted,
    refused,
    emit: async () => {
      n += 1;
      const key = `event-${n}`;
      const posted = await post(api.internalUrl, [apiEvent(organizationId, key)]);
      if (posted.status !== 202) return void refused.push(posted);
      accepted.add(key);
      acceptedAt.push(Date.now());
    },
    /** Waits until events are accepted for more than a moment. */
    untilAccepted: async () => {
      const before = refused.length;
      await until('the change is noticed', () => refused.length > before, { withinMs: 10_000 }).catch(() => undefined);
      const from = accepted.size;
      await until('events are accepted again', () => accepted.size > from + 50, { withinMs: 180_000 });
    },
    /** Between two accepted events, from a time on. */
    longestPauseMs: (from: number) => {
      const times = [from, ...acceptedAt.filter((at) => at > from)];
      return Math.max(0, ...times.slice(1).map((at, index) => at - (times[index] ?? at)));
    },
  };
}
