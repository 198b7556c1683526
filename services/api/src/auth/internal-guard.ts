import { hash, timingSafeEqual } from 'node:crypto';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { challenges, isProblem, type Problem, problem } from '../http/problem.ts';
import type { Guard } from '../http/routing/serve-routes.ts';
import { bearerToken } from '../http/server/request-context.ts';

export interface InternalAccess {
  readonly role: InternalRole;
  /** Identifies the secret without revealing it. The caller's `Idempotency-Key`s belong to this id. */
  readonly secretId: Uuid;
}

/**
 * Lets services use every route. Lets producers use only the routes that emit events. Refuses ingresses, because their
 * only route does not use this guard.
 */
export function createInternalGuard({ holderOf }: InternalSecrets): Guard<InternalAccess> {
  return (request, _response, operation) => {
    const holder = holderOf(request.headersDistinct.authorization);
    if (isProblem(holder)) return holder;
    const isForProducers = operation.kind === 'route' && operation.route.caller === 'producer';
    const { role } = holder;
    return role === 'service' || (role === 'producer' && isForProducers) ? holder : refusedRole(role);
  };
}

/** A `service` may use the whole internal listener. An `ingress` only authorizes requests, a `producer` only emits. */
export type InternalRole = 'service' | 'ingress' | 'producer';

export function refusedRole(role: Exclude<InternalRole, 'service'>): Problem {
  const message = `This secret only permits ${role === 'ingress' ? 'authorization requests' : 'emitting events'}.`;
  return problem('forbidden_scope', { message, headers: challenges.insufficientScope });
}

export type InternalSecrets = ReturnType<typeof createInternalSecrets>;

const roles: readonly InternalRole[] = ['service', 'ingress', 'producer'];

/**
 * Compares the presented secret with every accepted secret, in constant time. Does not stop at the first match, so that
 * response times reveal nothing.
 */
export function createInternalSecrets(accepted: Readonly<Record<InternalRole, readonly string[]>>) {
  const all = roles.flatMap((role) => accepted[role].map((secret) => ({ role, secret })));
  // One byte more than the longest secret, so that a longer text which begins with a secret differs from it.
  const length = 1 + Math.max(0, ...all.map(({ secret }) => Buffer.byteLength(secret)));
  const known = all.map(({ role, secret }) => ({
    bytes: padded(secret, length),
    holder: { role, secretId: secretIdOf(secret) },
  }));
  const message = 'The secret is missing or wrong.';
  return {
    /** @param authorization all values of the header that presents the secret */
    holderOf: (authorization: readonly string[] | undefined): InternalAccess | Problem => {
      const presented = padded(bearerToken(authorization) ?? '', length);
      const [match] = known.filter(({ bytes }) => timingSafeEqual(bytes, presented));
      return match === undefined ? problem('unauthorized', { message, headers: challenges.invalid }) : match.holder;
    },
  };
}

/** The beginning of a text, filled up with NUL. The text contains no NUL, because `bearerToken` allows visible ASCII only. */
function padded(text: string, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.write(text);
  return bytes;
}

/**
 * The id is the same in every process and after every restart, so that it can own rows. A hash does not reveal a secret
 * of 32 random characters; API keys are stored the same way.
 */
function secretIdOf(secret: string): Uuid {
  const digits = hash('sha256', `internal secret: ${secret}`, 'hex');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
