import { timingSafeEqual } from 'node:crypto';
import { challenges, isProblem, type Problem, problem } from '../core/problem.ts';
import type { Guard } from '../http/routing/serve-routes.ts';
import { type Authorization, authorizationOf, bearerToken } from './bearer.ts';

/** What handlers of the internal listener get in place of a principal: the caller has the internal secret. */
export interface InternalAccess {
  readonly internal: true;
}

/** Admits services to everything, and producers to the routes that emit events. An ingress asks elsewhere. */
export function createInternalGuard({ holderOf }: InternalSecrets): Guard<InternalAccess> {
  return (request, _response, operation) => {
    const holder = holderOf(authorizationOf(request));
    if (isProblem(holder)) return holder;
    const isForProducers = operation.kind === 'route' && operation.route.caller === 'producer';
    if (holder === 'service' || (holder === 'producer' && isForProducers)) return { internal: true };
    return refusedHolder(holder);
  };
}

/**
 * Who holds which secret: a `service` may do everything on the internal listener, an `ingress` may ask for
 * authorizations, a `producer` may emit events.
 */
export type SecretHolder = 'service' | 'ingress' | 'producer';

const refusals: Readonly<Record<Exclude<SecretHolder, 'service'>, string>> = {
  ingress: 'This secret may ask for authorizations only.',
  producer: 'This secret may emit events only.',
};

/** 403 for the holder of a secret that does not open what was asked for. */
export function refusedHolder(holder: Exclude<SecretHolder, 'service'>): Problem {
  return problem('forbidden_scope', { message: refusals[holder], headers: challenges.insufficientScope });
}

export interface InternalSecrets {
  /** The holder of the presented secret, or 401. */
  holderOf(authorization: Authorization): SecretHolder | Problem;
}

/**
 * Compares the presented secret with every accepted one in constant time, and never stops at the first match, so that
 * response times reveal nothing about the secrets.
 */
export function createInternalSecrets(accepted: Readonly<Record<SecretHolder, readonly string[]>>): InternalSecrets {
  const holders: readonly SecretHolder[] = ['service', 'ingress', 'producer'];
  const all = holders.flatMap((holder) => accepted[holder].map((secret) => ({ secret, holder })));
  // One byte more than the longest secret, so that a longer text which begins with it still differs.
  const length = 1 + Math.max(...all.map(({ secret }) => Buffer.byteLength(secret)));
  const known = all.map(({ secret, holder }) => ({ bytes: padded(secret, length), holder }));
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
