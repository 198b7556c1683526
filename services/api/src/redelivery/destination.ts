import { type AddressPolicy, checkOutboundUrl } from '@enterprise-api/shared/security';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import type { WebhookState } from './queries.ts';

/** Whether deliveries may go to a webhook. Its URL is checked again: it may be older than a rule. */
export function checkDestination(webhook: WebhookState | undefined, policy: AddressPolicy): WebhookState | Problem {
  if (webhook === undefined || webhook.state === 'deleted') return problem('not_found');
  const check = checkOutboundUrl(webhook.url, policy);
  return check.ok ? webhook : problem('url_not_allowed', { message: check.reason });
}

/** {@link checkDestination}, for what is sent to enabled webhooks only. */
export function checkEnabled(webhook: WebhookState | undefined, policy: AddressPolicy): WebhookState | Problem {
  const found = checkDestination(webhook, policy);
  return isProblem(found) || found.state === 'enabled' ? found : notEnabled;
}

export const notEnabled = problem('conflict', { message: 'The webhook is not enabled: nothing is sent to it.' });
