import type { Scheduler } from '../scheduler/scheduler.ts';
import type { AutoDisable } from '../webhooks/auto-disable.ts';
import type { Outcome, Recorded } from './outcome.ts';

/**
 * What follows from recorded failures, beyond their rows:
 *
 * - the circuit of a webhook has opened: what waits for it is released, and dispatch leases it when the circuit allows;
 * - the receiver answered 410: its webhook is disabled as `gone`;
 * - the webhook has failed for days: it is disabled as `failing`.
 */
export function createAfterOutcome(
  scheduler: Pick<Scheduler, 'releaseWaiting'>,
  { disable }: Pick<AutoDisable, 'disable'>,
) {
  return ({ circuitOpened, failing }: Recorded, outcomes: readonly Outcome[]): void => {
    for (const webhookId of circuitOpened) scheduler.releaseWaiting(webhookId);
    const gone = newestVersions(outcomes.filter((outcome) => outcome.result === 'stop'));
    for (const [webhookId, version] of gone) void disable(webhookId, 'gone', version);
    if (failing.length === 0) return;
    const versions = newestVersions(outcomes);
    for (const webhookId of failing) void disable(webhookId, 'failing', versions.get(webhookId) ?? 0);
  };
}

/** By webhook, the newest version that these outcomes are about. */
function newestVersions(outcomes: readonly Outcome[]): Map<string, number> {
  const versions = new Map<string, number>();
  for (const { webhookId, webhookVersion } of outcomes) {
    versions.set(webhookId, Math.max(versions.get(webhookId) ?? 0, webhookVersion));
  }
  return versions;
}
