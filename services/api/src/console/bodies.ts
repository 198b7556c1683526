import type { Uuid } from '@enterprise-api/shared/runtime';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { recordEventReads } from '../core/event-read.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { findEventReads } from './queries.ts';

const hiddenFields: ReadonlySet<string> = new Set(['body', 'response_body', 'response_headers', 'remote_address']);

/** A copy of an answer in which every field that holds a body of an event or of a receiver's answer is null. */
export function hideBodies(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(hideBodies);
  if (typeof answer !== 'object' || answer === null) return answer;
  const isEvent = 'object' in answer && answer.object === 'event';
  // The message of a redirect names the receiver's `Location`.
  const isRedirect = 'error' in answer && answer.error === 'redirect';
  const shown = ([name, value]: [string, unknown]): [string, unknown] =>
    hiddenFields.has(name) || (isEvent && name === 'data') || (isRedirect && name === 'error_message')
      ? [name, null]
      : [name, hideBodies(value)];
  // The size would tell a reader which of several possible bodies is hidden.
  const entries = Object.entries(answer).filter(([name]) => name !== 'Content-Length');
  return Object.fromEntries(entries.map(shown));
}

/**
 * Writes into the audit log that a session from the operator's service shows bodies of these events. Writes one row for
 * each session and event, because pages poll.
 *
 * @param session the session's public id, which is the actor of the rows
 * @throws DatabaseUnavailableError if the rows were not written: the person then gets 503 instead of the bodies
 */
export async function recordShownBodies(
  transact: Transact,
  { session, organizationId }: { session: string; organizationId: Uuid },
  answer: unknown,
): Promise<void> {
  const ids = new Set([...shownEvents(answer)].map((id) => fromPublicId('evt', id)).filter((id) => id !== null));
  if (ids.size === 0) return;
  for (const id of await transact(({ trx }) => findEventReads(trx, session, [...ids]))) ids.delete(id);
  if (ids.size > 0) await recordEventReads(transact, organizationId, [...ids]);
}

/** The public ids of the events whose bodies an answer shows. */
function* shownEvents(answer: unknown): Generator<string> {
  if (typeof answer !== 'object' || answer === null) return;
  const shown = answer as Record<string, unknown>;
  if (shown.object === 'event' && shown.data != null) yield shown.id as string;
  if (shown.object === 'delivery' && shown.request != null) yield shown.event_id as string;
  if (Array.isArray(shown.data)) for (const item of shown.data) yield* shownEvents(item);
  if ('tagged' in shown) yield* shownEvents(shown.tagged);
}
