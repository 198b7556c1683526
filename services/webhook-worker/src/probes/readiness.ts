import { type Database, databaseTime } from '@enterprise-api/shared/db';

/** Whether this process should get work. Without its queue it still works, by the relay; without the ledger it does not. */
export interface Readiness {
  unreadyReason(): Promise<string | null>;
  started(): void;
  stopping(): void;
}

const answerWithinMs = 1_000;

export function createReadiness(db: Database): Readiness {
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  return {
    unreadyReason: async () => {
      if (phase !== 'running') return phase;
      const late = new Promise<'late'>((resolve) => setTimeout(resolve, answerWithinMs, 'late').unref());
      const answer = await Promise.race([databaseTime(db).then(() => 'ok' as const), late]).catch(
        () => 'late' as const,
      );
      return answer === 'ok' ? null : 'database unavailable';
    },
    started: () => {
      phase = 'running';
    },
    stopping: () => {
      phase = 'stopping';
    },
  };
}
