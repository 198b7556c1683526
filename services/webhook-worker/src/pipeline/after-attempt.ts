import type { Lease } from '../leases/lease.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { AttemptHooks, AttemptResult } from './types.ts';

export interface AfterAttemptPorts {
  attempt(lease: Lease, hooks: AttemptHooks): Promise<AttemptResult>;
  record(outcome: Outcome): void;
  release(leases: readonly Lease[]): void;
  cancel(lease: Lease): void;
  /** For metrics and warnings. */
  onOutcome(result: AttemptResult & { kind: 'outcome' }): void;
}

/** Makes the attempt of a lease and acts on its result: records its outcome, releases the lease or cancels the delivery. */
export function createAttemptRunner(ports: AfterAttemptPorts) {
  return async (lease: Lease, hooks: AttemptHooks): Promise<{ timedOut: boolean }> => {
    const result = await ports.attempt(lease, hooks);
    switch (result.kind) {
      case 'outcome':
        ports.record(result.outcome);
        ports.onOutcome(result);
        return { timedOut: result.timedOut };
      case 'released':
        ports.release([lease]);
        return { timedOut: false };
      case 'canceled':
        ports.cancel(lease);
        return { timedOut: false };
      case 'failed':
        // The lease runs out.
        return { timedOut: false };
    }
  };
}
