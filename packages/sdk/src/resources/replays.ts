import { pathOf } from '../http/target.ts';
import type { Operations } from '../operations.ts';
import type { CallOptions, PostOptions } from '../options.ts';
import type { ListReplays, Replay } from '../types.ts';

/** Replays that `webhooks.replay` began. */
export function createReplays({ get, list, post }: Operations) {
  return {
    list: (query?: ListReplays, options?: CallOptions) => list<Replay>('/v1/webhooks/replays', { ...query }, options),
    get: (id: string, options?: CallOptions) => get<Replay>(pathOf`/v1/webhooks/replays/${id}`, {}, options),
    /** Cancels what waits. A replay that has ended stays as it is. */
    cancel: (id: string, options?: PostOptions) =>
      post<Replay>(pathOf`/v1/webhooks/replays/${id}/cancel`, undefined, options),
  };
}
