import type { Change, Database } from '@enterprise-api/shared/ledger';
import { createLimitedWarning, createLoop, startLoop, type Uuid } from '@enterprise-api/shared/runtime';
import type { Foundation } from '../core/foundation.ts';
import { findRecentlyClosed } from './queries.ts';

const everyMs = 2_000;

export type Closings = ReturnType<typeof followClosings>;

/**
 * Tells this process which organizations are closed, at once after a notification, and again every two seconds.
 * Notifications may be lost, and requests may have been accepted just before a notification.
 */
export function followClosings(db: Database, { log, closers }: Pick<Foundation, 'log' | 'closers'>) {
  const acts: ((organizationId: Uuid) => void)[] = [];
  const loop = createLoop({
    onError: createLimitedWarning(log, 'closed organizations not read'),
    everyMs,
    run: async () => {
      for (const id of await findRecentlyClosed(db)) for (const act of acts) act(id);
    },
  });
  startLoop(closers, 'closed organizations', loop);
  return {
    onClosed: (act: (organizationId: Uuid) => void): void => void acts.push(act),
    onChange: ({ kind }: Change): void => {
      if (kind === 'organization') loop.wake();
    },
    onLost: loop.wake,
  };
}
