import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient, readMetric, testEvent } from '@enterprise-api/testkit';

/** What became of one POST of events. */
export interface Posted {
  /** 0: no answer came (refused, reset, cut off). */
  status: number;
  ms: number;
  /** When it was sent, in milliseconds since 1970. */
  at: number;
  events: { id: string; duplicate: boolean }[];
}

type ApiEvent = ReturnType<typeof testEvent>;

/** An event with some text, for an organization of the ledger. */
export function apiEvent(organizationId: string, id?: string): ApiEvent {
  const data = { consultation_id: 'con_1', text: 'x'.repeat(200) };
  return testEvent(organizationId, { data, ...(id !== undefined && { id }) });
}

/** Emits events through the internal API, once. What to do after a failure is up to the caller. */
export async function post(internalUrl: string, events: readonly ApiEvent[]): Promise<Posted> {
  const at = Date.now();
  const startedAt = performance.now();
  const posted = (status: number, made: Posted['events'] = []) => ({
    status,
    ms: performance.now() - startedAt,
    at,
    events: made,
  });
  try {
    const { status, body } = await createApiClient({ url: internalUrl, internalUrl }).emit(events);
    return posted(status, body?.data);
  } catch {
    return posted(0);
  }
}

/**
 * Emits events where nothing may keep them from being accepted. After a 503 the same events are posted again, twice at
 * most: a machine that stalls may hold up the ledger once.
 */
export async function emit(internalUrl: string, organizationId: string, count: number): Promise<Posted> {
  const events = Array.from({ length: count }, () => apiEvent(organizationId, randomUUID()));
  let posted = await post(internalUrl, events);
  for (let repeated = 0; posted.status === 503 && repeated < 2; repeated++) {
    await pause(100);
    posted = await post(internalUrl, events);
  }
  if (posted.status !== 202) throw new Error(`The API answered ${posted.status} instead of 202.`);
  return posted;
}

/** Events of the load that this worker has fanned out because a job named them; the relay fans out the others. */
export function fannedOutByJobs({ url }: { url: string }): Promise<number> {
  return readMetric(url, 'webhook_events_fanned_out_total', 'by="job"');
}
