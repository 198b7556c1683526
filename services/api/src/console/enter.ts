import { hash } from 'node:crypto';
import { enterConsoleSchema, enteredConsoleSchema } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { type FailureLimit, hasExpired, sessionEnded, tooManyFailures } from '../auth/authenticate.ts';
import { sessionCredential } from '../auth/console-judge.ts';
import { isListed, type Principal } from '../auth/judge.ts';
import { noFieldChanges } from '../core/field-changes.ts';
import type { TransactAs } from '../core/unit-of-work.ts';
import { type Problem, problem } from '../http/problem.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import { organizationsToForget, readCookie, sessionCookie } from './cookies.ts';
import type { EnteringAccess } from './guard.ts';
import { endSession, enterSession, findUsedLink, noteReusedLink } from './queries.ts';
import { newToken } from './service.ts';

interface EnterOptions {
  db: Database;
  /** Finds a live session by the hash of its link or cookie. */
  findSession: (db: Database, hash: Buffer, of: 'link_hash' | 'cookie_hash') => Promise<Principal['key'] | null>;
  transactAs: TransactAs;
  failures: FailureLimit;
  publicUrl: string;
  now: () => number;
}

interface Entering {
  access: EnteringAccess;
  session: Principal['key'];
  requestId: string;
}

/** `POST /console/api/enter`: turns a link into a cookie, once. With `look`, only reads the link's label. */
export function enterRoute(options: EnterOptions): Route<EnteringAccess> {
  const { db, findSession, failures, now } = options;
  return defineRoute({
    endpoint: 'POST /console/api/enter',
    operationId: 'enterConsole',
    tag: 'Account',
    summary: 'Enter the console',
    body: enterConsoleSchema,
    response: enteredConsoleSchema,
    handle: async ({ access, body, requestId }) => {
      const waitSeconds = failures.blocked(access.bucket);
      if (waitSeconds !== null) return tooManyFailures(waitSeconds);
      const linkHash = hash('sha256', body.token, 'buffer');
      const session = await findSession(db, linkHash, 'link_hash');
      if (session !== null && !isListed(session, access.address)) return problem('ip_not_allowed');
      const isLive = session !== null && !hasExpired(session, now());
      if (isLive && body.look) return { label: session.session?.label ?? null };
      const entered = isLive ? await useLink(options, { access, session, requestId }) : undefined;
      if (entered !== undefined) return entered;
      // Do not note a look: programs that scan mail may look long after the person entered.
      if (!body.look) await noteReuse(options, linkHash, requestId);
      return refuse(failures, access);
    },
  });
}

function refuse(failures: FailureLimit, { bucket }: EnteringAccess): Problem {
  const waitSeconds = failures.count(bucket);
  return waitSeconds === null ? sessionEnded : tooManyFailures(waitSeconds);
}

/** @returns undefined if somebody else used the link first */
async function useLink(options: EnterOptions, { access, session, requestId }: Entering) {
  const { transactAs, findSession, publicUrl, now } = options;
  const organization = { id: session.organization.id, publicId: toPublicId('org', session.organization.id) };
  const cookie = newToken();
  const credentialHash = (value: string) => hash('sha256', sessionCredential(organization.publicId, value), 'buffer');
  const replaced = readCookie(access.request, organization.publicId, publicUrl);
  const actor = toPublicId('ses', session.id);
  const entered = await transactAs({ actor, onBehalfOf: null, requestId })(async ({ trx, changed }) => {
    const done = await enterSession(trx, session.id, credentialHash(cookie));
    if (done === undefined) return undefined;
    const about = { organizationId: organization.id, ...noFieldChanges };
    await changed({ action: 'console_session.entered', objectId: session.id, ...about });
    const before = replaced === null ? null : await findSession(trx, credentialHash(replaced), 'cookie_hash');
    if (before !== null) {
      const ended = await endSession(trx, { organizationId: organization.id, keyId: null }, before.id);
      if (ended !== undefined) await changed({ action: 'console_session.ended', objectId: before.id, ...about });
    }
    return done;
  });
  if (entered === undefined) return undefined;
  for (const other of organizationsToForget(access.request, organization.publicId, publicUrl)) {
    access.addCookie(sessionCookie(other, publicUrl, '', 0));
  }
  const secondsLeft = Math.max(1, Math.floor((entered.ends_at.getTime() - now()) / 1_000));
  access.addCookie(sessionCookie(organization.publicId, publicUrl, cookie, secondsLeft));
  return { organization_id: organization.publicId, path: entered.path };
}

async function noteReuse({ db, transactAs }: EnterOptions, linkHash: Buffer, requestId: string): Promise<void> {
  const id = await findUsedLink(db, linkHash);
  if (id === undefined) return;
  await transactAs({ actor: toPublicId('ses', id), onBehalfOf: null, requestId })(async ({ trx, changed }) => {
    const reused = await noteReusedLink(trx, linkHash);
    if (reused === undefined) return;
    const { organization_id: organizationId } = reused;
    await changed({ action: 'console_session.link_reused', objectId: id, organizationId, ...noFieldChanges });
  });
}
