import type { Operations } from '../operations.ts';
import type { CallOptions } from '../options.ts';
import type { Me } from '../types.ts';

/** The caller's organization, API key and permissions. */
export function createMe({ get, delete: remove }: Operations) {
  return {
    get: (options?: CallOptions) => get<Me>('/v1/me', {}, options),
    /** Revokes the client's key, for example after a leak. The key needs no scope for this. */
    revokeKey: (options?: CallOptions) => remove('/v1/me/key', options, 401),
  };
}
