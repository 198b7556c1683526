import { type RateDecision, rateWindowSeconds } from './rate-limit.ts';

/** The limit as headers: the IETF draft's structured fields, and the older names that clients know. */
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

/** Whole seconds to wait, at least one: who comes back earlier is refused again. */
export function secondsUntilReset(decision: RateDecision): number {
  return Math.max(1, Math.ceil(decision.resetMs / 1_000));
}
