import { failingPolicy, type Webhook } from '@enterprise-api/shared/contracts';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { type Tagged, versionTag } from '../http/routing/etag.ts';
import type { WebhookRow } from './queries.ts';

const disabledAfterMs = failingPolicy.afterDays * 24 * 3_600_000;

/** Does not show a disabled webhook as failing. */
export function presentWebhook(row: WebhookRow): Webhook {
  const enabled = row.state === 'enabled';
  const failingSince = enabled ? row.failing_since : null;
  return {
    id: toPublicId('whk', row.id),
    object: 'webhook',
    url: row.url,
    events: row.event_patterns,
    description: row.description,
    enabled,
    disabled_reason: row.state === 'disabled' ? row.disabled_reason : null,
    failing_since: failingSince?.toISOString() ?? null,
    disable_at: disableAt(failingSince, row)?.toISOString() ?? null,
    rate_limit_per_second: row.rate_limit_per_second,
    max_in_flight: row.max_in_flight,
    auto_recover: row.auto_recover,
    header_names: row.header_names ?? [],
    paused: presentPause(row),
    previous_secret_expires_at: row.previous_secret_expires_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function presentPause({ paused_since, resume_at, pause_reason }: WebhookRow): Webhook['paused'] {
  if (paused_since === null || resume_at === null) return null;
  return { since: paused_since.toISOString(), resume_at: resume_at.toISOString(), reason: pause_reason };
}

/**
 * Returns the time at which the webhook is disabled unless an attempt succeeds. Returns null while too few attempts
 * have failed. The time of pauses does not count as failing.
 */
function disableAt(failingSince: Date | null, { failed_attempts, paused_for_ms }: WebhookRow): Date | null {
  if (failingSince === null || (failed_attempts ?? 0) < failingPolicy.failedAttempts) return null;
  return new Date(failingSince.getTime() + disabledAfterMs + (paused_for_ms ?? 0));
}

/** The ETag changes with the webhook's version, its failure fields, and the ends of an open overlap and of a pause. */
export function presentTagged(row: WebhookRow): Tagged<Webhook> {
  const shown = presentWebhook(row);
  const { failing_since, disable_at, previous_secret_expires_at, paused } = shown;
  // Most webhooks have no overlap and no pause. Their tags cover only the version and the two failure fields.
  const overlap = previous_secret_expires_at === null ? [] : [previous_secret_expires_at];
  return {
    etag: versionTag(row.version, [
      failing_since,
      disable_at,
      ...overlap,
      ...(paused === null ? [] : [paused.resume_at]),
    ]),
    tagged: shown,
  };
}
