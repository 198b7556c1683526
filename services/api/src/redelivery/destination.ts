import type { DatabaseClock } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { type AddressPolicy, checkOutboundUrl } from '@enterprise-api/shared/security';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import type { WebhookState } from './queries.ts';

export interface Target {
  organizationId: Uuid;
  id: Uuid;
}

export interface RedeliveryOptions {
  clock: DatabaseClock;
  addressPolicy: AddressPolicy;
  /** The limit for a delivery that a replay makes of a skipped event. */
  maxAttempts: number;
}

/** Checks the URL again, because a stored URL may predate a rule for URLs. */
export function checkDestination(webhook: WebhookState | undefined, policy: AddressPolicy): WebhookState | Problem {
  if (webhook === undefined || webhook.state === 'deleted') return problem('not_found');
  const check = checkOutboundUrl(webhook.url, policy);
  return check.ok ? webhook : problem('url_not_allowed', { message: check.reason });
}

export function checkEnabled(webhook: WebhookState | undefined, policy: AddressPolicy): WebhookState | Problem {
  const found = checkDestination(webhook, policy);
  return isProblem(found) || found.state === 'enabled' ? found : notEnabled;
}

export const notEnabled = problem('conflict', { message: 'The webhook is not enabled, so nothing is sent to it.' });
