import { sql } from 'kysely';
import type { DatabaseTransaction } from './database.ts';

// The expressions read a row `h` of `webhook_health`, and a row `k` of `webhook_controls`, which may be missing.

export const isPaused = sql<boolean>`coalesce(k.resume_at > now(), false)`;

/** Whether the receiver asked with `Retry-After` to wait. */
export const isHeldByReceiver = sql<boolean>`coalesce(k.held_until > now(), false)`;

/** Whether the webhook has a limit. Only dispatch leases the deliveries of such a webhook. */
export const isLimited = sql<boolean>`num_nonnulls(k.rate_limit_per_second, k.max_in_flight, k.release_per_second) > 0`;

/** Whether the webhook's due deliveries may wait for a pause, a hold or a limit. */
export const isControlled = sql<boolean>`(${isPaused} or ${isHeldByReceiver} or ${isLimited})`;

/**
 * Returns how many deliveries may be leased now at this rate per second, or null without a rate. The maximum is the
 * number for 0.4 s, and at least two. Dispatch runs at least every 250 ms, so it can keep the rate.
 */
export const allowedAt = (rate: ReturnType<typeof sql>) => sql<number | null>`
  floor((greatest(0.4, 2.0 / ${rate}) - greatest(extract(epoch from k.rate_used_until - now()), 0)) * ${rate})::int`;

/** Whether the webhook's limits block every delivery now, as dispatch noted them with its last lease. */
export const isAtLimit = sql<boolean>`coalesce(
  ${allowedAt(sql`least(k.rate_limit_per_second, k.release_per_second)`)} < 1 or cardinality(k.in_flight_ids) >= k.max_in_flight, false)`;

/** How long the webhook has been paused, or will be, since its first failure. No attempt could fail or succeed then. */
export const pausedFor = sql`(h.paused_for + coalesce(
  greatest(k.resume_at - greatest(k.paused_since, h.first_failure_at), interval '0'), interval '0'))`;

/** Ends a pause, and adds its length to the time that does not count as failing. Lock the webhook first. */
export async function endPause(trx: DatabaseTransaction, webhookId: string): Promise<void> {
  await sql`
    update webhook_health h set paused_for = h.paused_for +
      greatest(least(k.resume_at, now()) - greatest(k.paused_since, h.first_failure_at), interval '0')
    from webhook_controls k where k.webhook_id = ${webhookId} and k.paused_since is not null
      and h.webhook_id = k.webhook_id and h.first_failure_at is not null`.execute(trx);
  await sql`update webhook_controls set paused_since = null, resume_at = null, pause_reason = null
    where webhook_id = ${webhookId} and paused_since is not null`.execute(trx);
}

/**
 * Clears failures and closes the circuit breaker, because they concern the previous URL or the time before the webhook
 * was disabled. Sets `open_until`, so that the next success changes the health again and may write `webhook.recovered`.
 */
export async function resetHealth(trx: DatabaseTransaction, webhookId: string): Promise<void> {
  await sql`
    update webhook_health set consecutive_failures = 0, failed_attempts = 0, first_failure_at = null, open_until = now(),
      openings = 0, paused_for = interval '0' where webhook_id = ${webhookId}`.execute(trx);
  await sql`update webhook_controls set held_until = null where webhook_id = ${webhookId}`.execute(trx);
}
