import { ApiError, ConnectionError } from '@enterprise-api/sdk';
import { type Outcome, outcomeOfStatus } from './exit-codes.ts';
import { Failure } from './failure.ts';

/** An error, explained to the user. */
export interface Explanation {
  outcome: Outcome;
  message: string;
  /** Details, one per line. */
  details: string[];
  /** What the user can do about the error. */
  hint?: string | undefined;
}

/** Explains an error, suggests a remedy, and determines the exit code. */
export function explain(error: unknown): Explanation {
  if (error instanceof Failure)
    return { outcome: error.outcome, message: error.message, details: [], hint: error.hint };
  if (error instanceof ApiError) return explainRefusal(error);
  if (error instanceof ConnectionError)
    return { outcome: 'unavailable', message: error.message, details: [], hint: connectionHint };
  // The SDK throws this for invalid arguments.
  if (error instanceof TypeError) return { outcome: 'usage', message: error.message, details: [] };
  return { outcome: 'failure', message: error instanceof Error ? error.message : String(error), details: [] };
}

/** True if the same request may succeed soon. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}

const connectionHint =
  'Check that the API runs and that the address is right. For another address: --api-url, --internal-url or --profile.';

function explainRefusal(error: ApiError): Explanation {
  // The message already names the first parameter.
  const places = error.details.length > 1 ? error.details.map(placeOf) : [];
  const request = error.requestId === null ? [] : [`request ${error.requestId}`];
  return {
    outcome: outcomeOfStatus(error.status),
    message: error.code === null ? error.message : `${error.message} (${error.status} ${error.code})`,
    details: [...places, ...request],
    hint: hintOf(error),
  };
}

const hints: Record<string, string> = {
  unauthorized: 'Log in again (enterprise-api login), or set another key. The key may be revoked or expired.',
  ip_not_allowed: 'The allowlist of the key does not contain your address.',
  plan_no_api_access: "The organization's plan has no access to the API.",
  not_found: 'Check the id. Objects of other organizations are not found either.',
  event_expired: 'The event is older than the events that the API keeps. Start again without --after.',
  url_not_allowed:
    'Webhooks need a public https URL. For a program on this machine: enterprise-api listen --forward-to http://localhost:PORT/path',
  internal_error: 'Try again, and name the request when you ask for help.',
  service_unavailable: 'The outcome is unknown. Try again in a moment.',
};

function hintOf({ code, requiredScope, retryAfter }: ApiError): string | undefined {
  if (code === 'forbidden_scope')
    return `The key lacks ${requiredScope === null ? 'the scope' : `the scope ${requiredScope}`}. "enterprise-api me" shows what it may do.`;
  if (code === 'rate_limited') return retryAfter === null ? 'Wait a moment.' : `Wait ${retryAfter} s.`;
  return code === null ? undefined : hints[code];
}

const placeOf = ({ path, message }: ApiError['details'][number]) => (path === '' ? message : `${path}: ${message}`);
