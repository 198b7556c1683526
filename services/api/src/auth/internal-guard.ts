import { challenges, isProblem, problem } from '../core/problem.ts';
import type { Guard } from '../http/routing/serve-routes.ts';
import { authorizationOf } from './bearer.ts';
import type { InternalSecrets } from './internal-secrets.ts';

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
