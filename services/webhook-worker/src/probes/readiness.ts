import { type Database, databaseTime } from '@enterprise-api/shared/ledger';
import { settledWithin } from '@enterprise-api/shared/runtime';

/** Whether this process is ready. It works without its queue, through the relay, but not without the ledger. */
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
      let answers = false;
      const answer = databaseTime(db).then(() => {
        answers = true;
      });
      await settledWithin(answer, answerWithinMs);
      return answers ? null : 'database unavailable';
    },
    started: () => {
      phase = 'running';
    },
    stopping: () => {
      phase = 'stopping';
    },
  };
}
