import type { Webhook } from '@enterprise-api/shared/contracts';
import { toPublicId } from '@enterprise-api/shared/runtime';
import type { WebhookRow } from './queries.ts';

/** A webhook without one success for so long is disabled (contract, section 5). */
const disabledAfterMs = 5 * 24 * 3_600_000;

/** A webhook as its owner sees it. Only one that is enabled can be on its way to being disabled. */
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
    disable_at: failingSince === null ? null : new Date(failingSince.getTime() + disabledAfterMs).toISOString(),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
