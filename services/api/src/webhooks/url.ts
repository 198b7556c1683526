import { type AddressPolicy, checkNewUrl } from '@enterprise-api/shared/security';
import { type Problem, problem } from '../http/problem.ts';

/** The URL as a webhook stores it, or the problem with it. */
export function acceptUrl(url: string, policy: AddressPolicy): string | Problem {
  const check = checkNewUrl(url, policy);
  if (check.ok) return check.url;
  const detail = { location: 'body', path: 'url', code: 'url_not_allowed', message: check.reason } as const;
  return problem('url_not_allowed', { message: check.reason, param: 'url', details: [detail] });
}
