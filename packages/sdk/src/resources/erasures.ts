import type { Operations } from '../operations.ts';
import type { CallOptions } from '../options.ts';
import type { Erasure, ListErasures } from '../types.ts';

/** Receipts of erasures of the organization's data. */
export function createErasures({ list }: Operations) {
  return {
    list: (query?: ListErasures, options?: CallOptions) => list<Erasure>('/v1/erasures', { ...query }, options),
  };
}
