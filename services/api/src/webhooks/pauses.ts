import type { PauseWebhook, ResumeWebhook, Webhook } from '@enterprise-api/shared/contracts';
import { type DatabaseTransaction, endPause } from '@enterprise-api/shared/ledger';
import type { Clock } from '@enterprise-api/shared/runtime';
import { fieldChanges } from '../core/field-changes.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { invalid, isProblem, type Problem, problem } from '../http/problem.ts';
import type { Tagged } from '../http/routing/etag.ts';
import { lockTarget, type WebhookTarget } from './change.ts';
import { presentTagged, presentWebhook } from './present.ts';
import { findWebhook, releaseHeld, startPause, updateWebhook, type WebhookRow } from './queries.ts';

const hourMs = 3_600_000;
const pausedForMs = 24 * hourMs;
const longestPauseMs = 7 * 24 * hourMs;

/** A pause writes nothing to deliveries. While the pause lasts, workers lease only tests of the webhook. */
export function createPauses(clock: Pick<Clock, 'now'>) {
  return {
    /** A second pause keeps the start of the first. */
    pause: (
      transact: Transact,
      target: WebhookTarget,
      { resume_at, reason }: PauseWebhook,
    ): Promise<Tagged<Webhook> | Problem> => {
      const resumeAt = resume_at ?? new Date(clock.now() + pausedForMs);
      const aheadMs = resumeAt.getTime() - clock.now();
      if (aheadMs <= 0 || aheadMs > longestPauseMs) return Promise.resolve(outOfRange);
      return transact(async ({ trx, changed }) => {
        const before = await lockTarget(trx, target);
        if (isProblem(before)) return before;
        if (before.state !== 'enabled') return notEnabled;
        // An earlier pause may have ended by itself.
        if (before.paused_since === null) await endPause(trx, target.id);
        await startPause(trx, target.id, { resumeAt, reason: reason ?? null });
        const after = await nextVersion(trx, target);
        await changed({ action: 'webhook.paused', ...about(target), ...pauseChanges(before, after) });
        return presentTagged(after);
      });
    },

    resume: (
      transact: Transact,
      target: WebhookTarget,
      { rate_per_second: rate }: ResumeWebhook,
    ): Promise<Tagged<Webhook> | Problem> =>
      transact(async ({ trx, changed }) => {
        const before = await lockTarget(trx, target);
        if (isProblem(before)) return before;
        if (before.state !== 'enabled') return notEnabled;
        await endPause(trx, target.id);
        await releaseHeld(trx, target.id, rate ?? null);
        const after = await nextVersion(trx, target);
        await changed({ action: 'webhook.resumed', ...about(target), ...pauseChanges(before, after) });
        return presentTagged(after);
      }),
  };
}

const outOfRange = invalid([
  {
    location: 'body',
    path: 'resume_at',
    code: 'invalid_value',
    message: 'must be in the future, at most 7 days ahead',
  },
]);
const notEnabled = problem('conflict', { message: 'The webhook is disabled: nothing is sent to it.' });

/** Workers notice the change by the webhook's version. */
async function nextVersion(trx: DatabaseTransaction, { organizationId, id }: WebhookTarget): Promise<WebhookRow> {
  await updateWebhook(trx, organizationId, id, {});
  return (await findWebhook(trx, organizationId, id)) as WebhookRow;
}

const about = ({ organizationId, id }: WebhookTarget) => ({ organizationId, objectId: id });

const pauseChanges = (before: WebhookRow, after: WebhookRow) =>
  fieldChanges(pauseOf(before), pauseOf(after), ['paused', 'resume_at', 'reason']);

function pauseOf(row: WebhookRow) {
  const { paused } = presentWebhook(row);
  return { paused: paused !== null, resume_at: paused?.resume_at ?? null, reason: paused?.reason ?? null };
}
