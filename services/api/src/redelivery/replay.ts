import { type Replay, type ReplayPreview, type ReplayRequest, typesMatching } from '@enterprise-api/shared/contracts';
import { isStatementTimeout, type ReplayRow, type SkippedSelection } from '@enterprise-api/shared/ledger';
import { newUuid, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import type { Transact } from '../core/unit-of-work.ts';
import { invalid, isProblem, type Problem } from '../http/problem.ts';
import { checkEnabled, type RedeliveryOptions, type Target } from './destination.ts';
import { findWebhook, lockWebhook, type WebhookState } from './queries.ts';
import { hasRestartable, insertReplay, restartDeliveries, saveHasMore } from './replay-queries.ts';
import { hasSkipped, noneSkipped, type PreviewRow, previewReplay, sendSkipped } from './skipped-queries.ts';
import { hastenDeliveries, hasWaiting } from './waiting-queries.ts';

/** A replay sends at most this many deliveries, because it locks these deliveries until its transaction ends. */
const replayedAtOnce = 100_000;

/**
 * Sends deliveries and skipped events of a period. Locks the webhook after these, so that a request that disables the
 * webhook meanwhile need not wait. After such a request, the replay sends nothing. Locks pending deliveries last: a
 * request that holds the webhook's lock may be canceling them.
 *
 * @param receivedAtMs arrival of the request on the monotonic clock; the replay excludes deliveries completed later
 */
export function startReplay(
  { clock, addressPolicy, maxAttempts }: RedeliveryOptions,
  transact: Transact,
  { organizationId, id: webhookId }: Target,
  request: ReplayRequest,
  receivedAtMs: number,
): Promise<Replay | ReplayPreview | Problem> {
  return transact(async ({ trx, due, acted }) => {
    const before = checkEnabled(await findWebhook(trx, organizationId, webhookId), addressPolicy);
    if (isProblem(before)) return before;
    const deliveries = () => selectDeliveries(webhookId, request, clock.monotonic() - receivedAtMs);
    const events = selectSkipped({ organizationId, id: webhookId }, before, request);
    const replay = { id: newUuid(), organizationId, webhookId, ratePerSecond: request.rate_per_second };
    if (request.dry_run) {
      const selected = { deliveries: deliveries(), events };
      const preview = await previewReplay(trx, replay, selected, replayedAtOnce);
      return presentPreview(preview, request.rate_per_second);
    }
    await insertReplay(trx, replay);
    const restarted = await restartDeliveries(trx, replay, deliveries(), replayedAtOnce);
    const room = { limit: replayedAtOnce - restarted, after: restarted, maxAttempts };
    const skipped = events === null ? noneSkipped : await sendSkipped(trx, replay, events, room);
    const sent = restarted + skipped.added;
    const after = checkEnabled(await lockWebhook(trx, organizationId, webhookId), addressPolicy);
    if (isProblem(after)) return after;
    const others = { limit: replayedAtOnce - sent, after: sent };
    const includesPending = request.status.includes('pending');
    const matched = sent + (includesPending ? await hastenDeliveries(trx, replay, deliveries(), others) : 0);
    const hasMore =
      (matched === replayedAtOnce || skipped.found === room.limit) &&
      ((await hasRestartable(trx, organizationId, deliveries())) ||
        (events !== null && (await hasSkipped(trx, events))) ||
        (includesPending && (await hasWaiting(trx, replay, deliveries()))));
    if (matched > 0) due(webhookId);
    await acted({ action: 'webhook.replayed', objectId: webhookId, organizationId });
    return presentReplay(await saveHasMore(trx, replay.id, hasMore));
  }).catch((error: unknown) => {
    if (isStatementTimeout(error)) return periodTooLong;
    throw error;
  });
}

const periodTooLong = invalid([
  {
    location: 'body',
    path: 'since',
    code: 'invalid_value',
    message: 'names more than can be read at once: choose a shorter period',
  },
]);

function selectDeliveries(webhookId: Uuid, request: ReplayRequest, completedForMs: number) {
  const { since, until, status, event_type: eventTypes, error: errors, status_code: statusCodes } = request;
  const statuses = status.filter((each) => each !== 'skipped');
  return { webhookId, since, until, statuses, eventTypes, errors, statusCodes, completedForMs };
}

/** Returns null if the request selects no skipped events. A filter by error or status code matches none of them. */
function selectSkipped(
  { organizationId, id }: Target,
  webhook: WebhookState,
  request: ReplayRequest,
): SkippedSelection | null {
  const { since, until, status, event_type: eventTypes, error, status_code: statusCode } = request;
  if (!status.includes('skipped') || error !== undefined || statusCode !== undefined) return null;
  const types = typesMatching(webhook.event_patterns).filter((type) => eventTypes?.includes(type) ?? true);
  const from = new Date(Math.max(since.getTime(), webhook.created_at.getTime()));
  return { organizationId, webhookId: id, since: from, until, types };
}

function presentPreview(row: PreviewRow, ratePerSecond: number | null): ReplayPreview {
  return {
    object: 'replay_preview',
    ...row,
    sample: row.sample.map((id) => toPublicId('evt', id)),
    estimated_seconds: ratePerSecond === null ? null : Math.ceil(row.matched / ratePerSecond),
  };
}

export function presentReplay(row: ReplayRow): Replay {
  return {
    id: toPublicId('rpl', row.id),
    object: 'replay',
    webhook_id: toPublicId('whk', row.webhook_id),
    state: row.state,
    matched: row.matched,
    has_more: row.has_more,
    pending: row.pending,
    succeeded: row.succeeded,
    failed: row.failed,
    canceled: row.canceled,
    rate_per_second: row.rate_per_second,
    created_at: row.created_at.toISOString(),
    completed_at: row.completed_at?.toISOString() ?? null,
  };
}
