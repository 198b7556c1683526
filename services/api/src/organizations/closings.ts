import type { Change, Database } from '@enterprise-api/shared/ledger';
import { createLimitedWarning, createLoop, type Uuid } from '@enterprise-api/shared/runtime';
import type { Foundation } from '../core/foundation.ts';
import { findRecentlyClosed } from './queries.ts';

const readEveryMs = 2_000;
const wakeFloorMs = 100;

export type Closings = ReturnType<typeof followClosings>;

/**
 * Tells this process which organizations are closed: at once after a pushed change, and again every two seconds, because
 * pushes may be lost and requests may have been accepted just before.
 */
export function followClosings(db: Database, { log, closers }: Pick<Foundation, 'log' | 'closers'>) {
  const acts: ((organizationId: Uuid) => void)[] = [];
  const loop = createLoop({
    onError: createLimitedWarning(log, 'closed organizations not read'),
    delayAfterErrorMs: readEveryMs,
    wakeFloorMs,
    run: async () => {
      for (const id of await findRecentlyClosed(db)) for (const act of acts) act(id);
      return readEveryMs;
    },
  });
  closers.add('closed organizations', loop.stop, readEveryMs);
  loop.start();
  return {
    onClosed: (act: (organizationId: Uuid) => void): void => void acts.push(act),
    onChange: ({ kind }: Change): void => {
      if (kind === 'organization') loop.wake();
    },
    onLost: loop.wake,
  };
}
