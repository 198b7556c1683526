import type { Operations } from '../operations.ts';
import type { CallOptions } from '../options.ts';
import type { GetUsage, Usage } from '../types.ts';

/** The organization's usage by hour, day or month. */
export function createUsage({ get }: Operations) {
  return {
    get: (query?: GetUsage, options?: CallOptions) => get<Usage>('/v1/usage', { ...query }, options),
  };
}
