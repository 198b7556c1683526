import { failingPolicy, type Webhook } from '@enterprise-api/shared/contracts';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { type Tagged, versionTag } from '../http/routing/etag.ts';
import type { WebhookRow } from './queries.ts';

const disabledAfterMs = failingPolicy.afterDays * 24 * 3_600_000;

/** A webhook as its owner sees it. A webhook that is disabled already is not shown as failing. */
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

/** When the webhook will be disabled unless an attempt succeeds; null while too few attempts have failed for that. */
function disableAt(failingSince: Date | null, failedAttempts: number | null): Date | null {
  if (failingSince === null || (failedAttempts ?? 0) < failingPolicy.failedAttempts) return null;
  return new Date(failingSince.getTime() + disabledAfterMs);
}

/** With a tag that changes with the webhook's version and with what is observed about it. */
export function presentTagged(row: WebhookRow): Tagged<Webhook> {
  const shown = presentWebhook(row);
  const { failing_since, disable_at, previous_secret_expires_at } = shown;
  // Most webhooks have no open overlap: their tags are those of two fields.
  const overlap = previous_secret_expires_at === null ? [] : [previous_secret_expires_at];
  return { etag: versionTag(row.version, [failing_since, disable_at, ...overlap]), tagged: shown };
}
