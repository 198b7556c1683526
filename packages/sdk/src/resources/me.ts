import type { Operations } from '../operations.ts';
import type { CallOptions } from '../options.ts';
import type { Me } from '../types.ts';

/** The caller: its organization, its key and what the key may do. */
export function createMe({ get }: Operations) {
  return {
    get: (options?: CallOptions) => get<Me>('/v1/me', {}, options),
  };
}
