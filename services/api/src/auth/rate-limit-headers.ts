import { type RateDecision, rateWindowSeconds } from './rate-limit.ts';

/** The rate limit as headers: the structured fields of the IETF draft, and the older `X-RateLimit-*`. */
export function rateLimitHeaders(decision: RateDecision, nowMs: number): [name: string, value: string][] {
  const { limit, remaining } = decision;
  const resetSeconds = secondsUntilReset(decision);
  return [
    ['RateLimit', `"organization";r=${remaining};t=${resetSeconds}`],
    ['RateLimit-Policy', `"organization";q=${limit};w=${rateWindowSeconds}`],
    ['X-RateLimit-Limit', String(limit)],
    ['X-RateLimit-Remaining', String(remaining)],
    ['X-RateLimit-Reset', String(Math.ceil((nowMs + Math.max(0, decision.resetMs)) / 1_000))],
  ];
}

/** Whole seconds until the window ends, rounded up, so that a client that waits so long is not refused again. */
export function secondsUntilReset(decision: RateDecision): number {
  return Math.max(1, Math.ceil(decision.resetMs / 1_000));
}
