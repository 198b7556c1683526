import { hash, timingSafeEqual } from 'node:crypto';
import { challenges, problem } from '../http/errors.ts';
import type { Guard } from '../http/serve-routes.ts';
import { bearerToken } from './bearer.ts';

/** The internal listener knows no principals: who has the secret is one of us. */
export interface InternalAccess {
  readonly internal: true;
}

/**
 * Compares with every secret, digests of equal length in constant time, so that neither the time nor the order says
 * anything about them.
 */
export function createInternalGuard(secrets: readonly string[]): Guard<InternalAccess> {
  const digests = secrets.map(digestOf);
  const message = 'The internal API secret is missing or wrong.';
  return (request) => {
    const presented = digestOf(bearerToken(request) ?? '');
    const matches = digests.filter((digest) => timingSafeEqual(digest, presented));
    return matches.length > 0 ? { internal: true } : problem('unauthorized', { message, headers: challenges.invalid });
  };
}

function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
