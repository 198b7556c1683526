import { fromPublicId } from '@enterprise-api/shared/runtime';
import type { Request, Response } from 'express';
import { sessionCredential } from '../auth/console-judge.ts';
import type { Judge, Principal } from '../auth/judge.ts';
import { parseQuery } from '../http/parsing/request-target.ts';
import { invalidHeader, isProblem, type Problem, problem } from '../http/problem.ts';
import { type Operation, scopeOf } from '../http/routing/route-table.ts';
import type { Guard } from '../http/routing/serve-routes.ts';
import { addressBucket, type ClientAddressOf } from '../http/server/client-address.ts';
import { requestContextOf } from '../http/server/request-context.ts';
import { readCookie } from './cookies.ts';

/** A person with a session of the console. Handlers of `/v1` treat the session as a key. */
export interface ConsolePrincipal extends Principal {
  readonly key: Principal['key'] & Required<Pick<Principal['key'], 'session'>>;
  readonly setHeader: (name: string, value: string) => void;
}

interface GuardOptions {
  judge: Judge;
  addressOf: ClientAddressOf;
  /** The console's origin. */
  publicUrl: string;
}

export function createConsoleGuard({ judge, addressOf, publicUrl }: GuardOptions): Guard<ConsolePrincipal> {
  return async (request, response, operation) => {
    if (isForeign(request, publicUrl)) return problem('forbidden_origin');
    const context = requestContextOf(response);
    context.caller = { address: addressOf(request), area: undefined };
    const [, organizationId = ''] = /^\/console\/api\/([^/]+)/.exec(context.target.path) ?? [];
    const cookie = fromPublicId('org', organizationId) && readCookie(request, organizationId, publicUrl);
    const principal = await judge({
      method: request.method,
      authorization: cookie ? [sessionCredential(organizationId, cookie)] : undefined,
      userAgent: request.headers['user-agent'],
      scope: scopeOf(operation),
      acceptsAnyKey: false,
      caller: context.caller,
      headers: context.headers,
    });
    if (isProblem(principal)) return principal;
    const granted = { ...principal, setHeader: setterOf(response) } as ConsolePrincipal;
    return hidesWhatIsAsked(granted, operation, context.target.query) ?? granted;
  };
}

/** Browsers send `X-Console` across origins only after a preflight, which this API never grants. */
function isForeign({ headers }: Request, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  const isElsewhere = site !== undefined && site !== 'same-origin';
  return headers['x-console'] !== '1' || isElsewhere || (headers.origin !== undefined && headers.origin !== publicUrl);
}

/**
 * Streams, searches and signature checks would reveal the bodies that the session does not show. A session from
 * the operator's service gets no streams at all, because the audit log names each event whose body it shows.
 */
function hidesWhatIsAsked(
  { key: { session } }: ConsolePrincipal,
  operation: Operation<ConsolePrincipal>,
  query: string,
): Problem | null {
  if (operation.kind !== 'route') return null;
  const { streams, operationId } = operation.route;
  const isStream = streams !== undefined;
  const reveals = isStream || operationId === 'verifySignature' || parseQuery(query).q !== undefined;
  const isRefused = (reveals && !session.showBodies) || (isStream && session.keyId === null);
  return isRefused ? problem('bodies_hidden') : null;
}

/** The caller of a request that enters the console and has no session cookie yet. */
export interface EnteringAccess {
  readonly address: string;
  readonly bucket: string;
  readonly request: Request;
  readonly addCookie: (cookie: string) => void;
}

export function createEnteringGuard({ addressOf, publicUrl }: Omit<GuardOptions, 'judge'>): Guard<EnteringAccess> {
  return (request, response) => {
    if (isForeign(request, publicUrl)) return problem('forbidden_origin');
    // A stored answer would let the link be used again.
    if (request.headers['idempotency-key'] !== undefined) return invalidHeader('Idempotency-Key', 'must be omitted');
    const address = addressOf(request);
    const addCookie = (cookie: string) => void response.appendHeader('Set-Cookie', cookie);
    return { address, bucket: addressBucket(address), request, addCookie };
  };
}

const setterOf = (response: Response) => (name: string, value: string) => void response.setHeader(name, value);
