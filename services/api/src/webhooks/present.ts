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
    disable_at: disableAt(failingSince, row.failed_attempts)?.toISOString() ?? null,
    previous_secret_expires_at: row.previous_secret_expires_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/**
 * Returns the time at which the webhook is disabled unless an attempt succeeds. Null while too few attempts have
 * failed.
 */
function disableAt(failingSince: Date | null, failedAttempts: number | null): Date | null {
  if (failingSince === null || (failedAttempts ?? 0) < failingPolicy.failedAttempts) return null;
  return new Date(failingSince.getTime() + disabledAfterMs);
}

/** The ETag changes with the webhook's version, its failure fields and the end of an open overlap. */
export function presentTagged(row: WebhookRow): Tagged<Webhook> {
  const shown = presentWebhook(row);
  const { failing_since, disable_at, previous_secret_expires_at } = shown;
  // Most webhooks have no open overlap. Besides the version, their tags cover only the two failure fields.
  const overlap = previous_secret_expires_at === null ? [] : [previous_secret_expires_at];
  return { etag: versionTag(row.version, [failing_since, disable_at, ...overlap]), tagged: shown };
}
