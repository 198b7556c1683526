import { timingSafeEqual } from 'node:crypto';
import { challenges, isProblem, type Problem, problem } from '../core/problem.ts';
import type { Guard } from '../http/routing/serve-routes.ts';
import { type Authorization, authorizationOf, bearerToken } from './bearer.ts';

/** What handlers of the internal listener get in place of a principal: the caller has the internal secret. */
export interface InternalAccess {
  readonly internal: true;
}

/** Admits services. The secret of an ingress opens forward authentication only, which does not come here. */
export function createInternalGuard({ holderOf }: InternalSecrets): Guard<InternalAccess> {
  const message = 'This secret may ask for authorizations only.';
  return (request) => {
    const holder = holderOf(authorizationOf(request));
    if (isProblem(holder)) return holder;
    if (holder === 'service') return { internal: true };
    return problem('forbidden_scope', { message, headers: challenges.insufficientScope });
  };
}

/** Who holds which secret: `service` may do everything on the internal listener, `ingress` may ask for authorizations. */
export type SecretHolder = 'service' | 'ingress';

export interface InternalSecrets {
  /** The holder of the presented secret, or 401. */
  holderOf(authorization: Authorization): SecretHolder | Problem;
}

/**
 * Compares the presented secret with every accepted one in constant time, and never stops at the first match, so that
 * response times reveal nothing about the secrets.
 */
export function createInternalSecrets(accepted: Readonly<Record<SecretHolder, readonly string[]>>): InternalSecrets {
  const all = [...accepted.service, ...accepted.ingress];
  // One byte more than the longest secret, so that a longer text which begins with it still differs.
  const length = 1 + Math.max(...all.map((secret) => Buffer.byteLength(secret)));
  const known = all.map((secret, index) => ({
    bytes: padded(secret, length),
    holder: index < accepted.service.length ? ('service' as const) : ('ingress' as const),
  }));
  const message = 'The internal API secret is missing or wrong.';
  return {
    holderOf: (authorization) => {
      const presented = padded(bearerToken(authorization) ?? '', length);
      const [match] = known.filter(({ bytes }) => timingSafeEqual(bytes, presented));
      return match === undefined ? problem('unauthorized', { message, headers: challenges.invalid }) : match.holder;
    },
  };
}

/** The beginning of a text, filled up with NUL bytes. The text has none itself: `bearerToken` allows visible ASCII only. */
function padded(text: string, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length).fill(0);
  bytes.write(text);
  return bytes;
}
