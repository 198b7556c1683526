import { timingSafeEqual } from 'node:crypto';
import { challenges, problem } from '../core/problem.ts';
import type { Guard } from '../http/routing/serve-routes.ts';
import { authorizationOf, bearerToken } from './bearer.ts';

/** What handlers of the internal listener get in place of a principal: the caller has the internal secret. */
export interface InternalAccess {
  readonly internal: true;
}

/**
 * Compares the presented secret with every accepted one in constant time, and never stops at the first match, so that
 * response times reveal nothing about the secrets.
 */
export function createInternalGuard(secrets: readonly string[]): Guard<InternalAccess> {
  // One byte more than the longest secret, so that a longer text which begins with it still differs.
  const length = 1 + Math.max(...secrets.map((secret) => Buffer.byteLength(secret)));
  const known = secrets.map((secret) => padded(secret, length));
  const message = 'The internal API secret is missing or wrong.';
  return (request) => {
    const presented = padded(bearerToken(authorizationOf(request)) ?? '', length);
    const matches = known.filter((secret) => timingSafeEqual(secret, presented));
    return matches.length > 0 ? { internal: true } : problem('unauthorized', { message, headers: challenges.invalid });
  };
}

/** The beginning of a text, filled up with NUL bytes. The text has none itself: `bearerToken` allows visible ASCII only. */
function padded(text: string, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length).fill(0);
  bytes.write(text);
  return bytes;
}
