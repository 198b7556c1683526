import { type EventType, type ExplainedWebhook, eventPatternsFor } from '@enterprise-api/shared/contracts';
import { toPublicId } from '@enterprise-api/shared/runtime';
import type { FannedOut, PossibleVersion, WebhookAt } from './queries.ts';

/** If only a type is given, the event does not exist: it counts as waiting, and has no times. */
export interface ExplainedEvent
  extends Pick<FannedOut, 'type' | 'erased_at' | 'fanned_out_at' | 'is_waiting' | 'is_being_erased'> {
  created_at: Date | null;
}

type Verdict = Pick<ExplainedWebhook, 'outcome' | 'reason' | 'message' | 'certain'>;

/** @returns null if the webhook neither existed at the fan-out nor exists now */
export function explainWebhook(event: ExplainedEvent, row: WebhookAt): ExplainedWebhook | null {
  const verdict = row.delivery_id === null ? withoutDelivery(event, row) : ofDelivery(row);
  if (verdict === null) return null;
  return {
    webhook_id: toPublicId('whk', row.webhook_id),
    ...verdict,
    delivery_id: row.delivery_id === null ? null : toPublicId('dlv', row.delivery_id),
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    waiting_for: row.waiting_for,
  };
}

function ofDelivery(row: WebhookAt): Verdict {
  const { status, attempt_count, last_error, canceled_reason } = row;
  const at = row.completed_at?.toISOString();
  const verdict = (reason: string | null, message: string): Verdict => {
    return { outcome: status ?? 'pending', reason, message, certain: true };
  };
  if (status === 'succeeded') return verdict(null, `It was delivered at ${at}.`);
  if (status === 'failed') {
    const attempts = attempt_count === 1 ? '1 attempt' : `${attempt_count} attempts`;
    return verdict(last_error, `It failed at ${at}, after ${attempts}. The last error was ${last_error}.`);
  }
  if (status !== 'canceled') return verdict(null, waitingMessage(row));
  const because = canceledBecause[canceled_reason ?? ''] ?? canceled_reason;
  return verdict(canceled_reason, `It was canceled at ${at}${because === null ? '' : `, because ${because}`}.`);
}

const canceledBecause: Readonly<Record<string, string>> = {
  webhook_disabled: 'the webhook was disabled',
  webhook_deleted: 'the webhook was deleted',
  replay_canceled: 'its replay was canceled',
  organization_closed: 'the organization was closed',
  erased: 'the event was erased',
};

function waitingMessage({ waiting_for, next_attempt_at }: WebhookAt): string {
  const at = next_attempt_at?.toISOString();
  switch (waiting_for) {
    case 'schedule':
      return `The next attempt is due at ${at}.`;
    case 'circuit_open':
      return `The webhook keeps failing, so its deliveries wait. The next attempt is due at ${at}.`;
    case 'paused':
      return 'Deliveries to the webhook are paused.';
    case 'receiver':
      return 'The receiver asked with `Retry-After` to wait.';
    case 'rate_limit':
      return 'The webhook is at its `rate_limit_per_second` or `max_in_flight`.';
    case 'capacity':
      return `It has been due since ${at}, and waits for a free worker.`;
    default:
      return 'A worker is about to send it, or is sending it.';
  }
}

function withoutDelivery(event: ExplainedEvent, row: WebhookAt): Verdict | null {
  const { versions, state, is_later } = row;
  const certain = versions.every((version) => version.is_sure);
  const skipped = (reason: string | null, message: string): Verdict => ({
    outcome: 'skipped',
    reason,
    message,
    certain,
  });
  // A deleted webhook is listed if it existed at the fan-out, or was deleted between the event and the fan-out.
  const existed = versions.some((version) => version.state !== 'deleted') || (versions.length > 0 && !is_later);
  if (state === 'deleted' && !existed) return null;
  if (is_later) {
    const [created, accepted] = [row.created_at.toISOString(), event.created_at?.toISOString()];
    return skipped('created_later', `The webhook was created at ${created}, after the event at ${accepted}.`);
  }
  const { fanned_out_at, erased_at, is_waiting } = event;
  const isErased = is_waiting ? event.is_being_erased : fanned_out_at === null && erased_at !== null;
  const judged = is_waiting || isErased ? versions.slice(-1) : versions;
  const version = judged.findLast((each) => reasonOf(each, event.type) !== null);
  if (version !== undefined) return skipped(reasonOf(version, event.type), skippedMessage(event, row, version));
  if (row.is_subject) return skipped(null, 'The event is about this webhook, which does not get it.');
  if (isErased) {
    const when = erased_at === null ? 'is being erased' : `was erased at ${erased_at.toISOString()}`;
    return { outcome: 'canceled', reason: 'erased', message: `The event ${when}, before its fan-out.`, certain };
  }
  if (is_waiting) return { outcome: 'pending', reason: 'not_fanned_out', message: pendingMessage(event), certain };
  return { ...skipped(null, 'We do not know how the webhook was configured at the fan-out.'), certain: false };
}

/** @returns null if the webhook gets the event, or if that is not known */
function reasonOf({ state, events }: PossibleVersion, type: string): 'deleted' | 'disabled' | 'not_subscribed' | null {
  if (state === 'deleted' || state === 'disabled') return state;
  const patterns = eventPatternsFor(type as EventType);
  return events === null || events.some((pattern) => patterns.includes(pattern)) ? null : 'not_subscribed';
}

function skippedMessage({ type, fanned_out_at, is_waiting }: ExplainedEvent, row: WebhookAt, version: PossibleVersion) {
  const { state, events } = version;
  if (state === 'deleted') return `The webhook was deleted at ${row.updated_at.toISOString()}.`;
  const at = fanned_out_at === null ? '' : ` at ${fanned_out_at.toISOString()}`;
  const when = is_waiting ? 'The' : `When the event was fanned out${at}, the`;
  if (state === 'disabled') return `${when} webhook ${is_waiting ? 'is' : 'was'} disabled.`;
  return `${when} webhook ${is_waiting ? 'subscribes' : 'subscribed'} to ${events?.join(', ')}, not to ${type}.`;
}

const pendingMessage = ({ created_at }: ExplainedEvent) =>
  created_at === null
    ? 'The webhook would get an event of this type.'
    : 'The event is not fanned out yet. The webhook will get it.';
