import type { Change } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';

/** Messages about one organization come this far apart: whoever follows it reads all of its new events at once. */
const everyMs = 50;

/** Tells all processes which organizations have new events: at once, and then together after a while. Nobody waits for it. */
export function createEventNotifier(publish: (change: Change) => Promise<void>): (organizationId: Uuid) => void {
  const recent = new Map<Uuid, { again: boolean }>();
  const tell = (id: Uuid) => {
    const state = { again: false };
    recent.set(id, state);
    void publish({ kind: 'events', id });
    setTimeout(() => (state.again ? tell(id) : recent.delete(id)), everyMs).unref();
  };
  return (organizationId) => {
    const state = recent.get(organizationId);
    if (state === undefined) tell(organizationId);
    else state.again = true;
  };
}
