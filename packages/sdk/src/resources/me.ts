import type { Operations } from '../operations.ts';
import type { CallOptions } from '../options.ts';
import type { Me } from '../types.ts';

/** The caller's organization, API key and permissions. */
export function createMe({ get }: Operations) {
  return {
    get: (options?: CallOptions) => get<Me>('/v1/me', {}, options),
  };
}
