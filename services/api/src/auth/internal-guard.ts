import { timingSafeEqual } from 'node:crypto';
import { challenges, problem } from '../core/problem.ts';
import type { Guard } from '../http/routing/serve-routes.ts';
import { bearerToken } from './bearer.ts';

/** The internal listener knows no principals: who has the secret is one of us. */
export interface InternalAccess {
  readonly internal: true;
}

/**
 * Compares with every secret, in buffers of equal length and constant time, so that neither the time nor the order says
 * anything about them.
 */
export function createInternalGuard(secrets: readonly string[]): Guard<InternalAccess> {
  // One more than the longest has: what is longer still differs there.
  const length = 1 + Math.max(...secrets.map((secret) => Buffer.byteLength(secret)));
  const known = secrets.map((secret) => padded(secret, length));
  const message = 'The internal API secret is missing or wrong.';
  return (request) => {
    const presented = padded(bearerToken(request) ?? '', length);
    const matches = known.filter((secret) => timingSafeEqual(secret, presented));
    return matches.length > 0 ? { internal: true } : problem('unauthorized', { message, headers: challenges.invalid });
  };
}

/** The beginning of a text that has no NUL, filled up with them. */
function padded(text: string, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length).fill(0);
  bytes.write(text);
  return bytes;
}
