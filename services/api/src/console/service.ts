import { hash, randomBytes } from 'node:crypto';
import {
  type ConsoleScope,
  type ConsoleSession,
  type CreateConsoleSession,
  type CreatedConsoleSession,
  defaultConsoleScopes,
  type ListConsoleSessionsQuery,
  type Scope,
} from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { newUuid, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { canonicalAllowlist } from '../api-keys/service.ts';
import type { Principal } from '../auth/judge.ts';
import { hasScope } from '../auth/scopes.ts';
import { fieldChanges, noFieldChanges } from '../core/field-changes.ts';
import { findOrganizationState, requireActive } from '../core/require-active.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { challenges, invalid, isProblem, type Problem, problem } from '../http/problem.ts';
import { type Cursors, type PageQuestion, paginate } from '../pagination/paging.ts';
import {
  countLiveSessions,
  endSession,
  insertSession,
  listSessions,
  lockSessions,
  type SessionOwner,
  type SessionRow,
} from './queries.ts';

export { deleteOldSessions } from './queries.ts';

export type ConsoleSessions = ReturnType<typeof createConsoleSessions>;

interface ConsoleSessionsOptions {
  db: Database;
  cursors: Cursors;
  /** Undefined: the console is off. */
  publicUrl: string | undefined;
  now: () => number;
}

export interface Mint {
  organizationId: Uuid;
  /** Null: the operator's service mints the link. */
  key: Principal['key'] | null;
  body: CreateConsoleSession;
}

/** The secret of a link or a cookie. */
export const newToken = () => randomBytes(32).toString('base64url');

const maxLive = 100;
const audited = ['label', 'scopes', 'path', 'show_bodies', 'ip_allowlist', 'expires_at'] as const;
const off = problem('not_found', { message: 'The console is off.' });

export function createConsoleSessions({ db, cursors, publicUrl, now }: ConsoleSessionsOptions) {
  return {
    create: async (transact: Transact, mint: Mint): Promise<CreatedConsoleSession | Problem> => {
      if (publicUrl === undefined) return off;
      const asked = readMint(mint);
      if (isProblem(asked)) return asked;
      const token = newToken();
      const { organizationId, key, body } = mint;
      return transact(async ({ trx, changed }) => {
        const refused = await requireActive(trx, organizationId);
        if (refused !== undefined) return refused;
        await lockSessions(trx, organizationId);
        if ((await countLiveSessions(trx, organizationId)) >= maxLive) return tooMany;
        const row = await insertSession(trx, {
          ...asked,
          id: newUuid(),
          organization_id: organizationId,
          key_id: key?.id ?? null,
          show_bodies: body.show_bodies,
          label: body.label ?? null,
          link_hash: hash('sha256', token, 'buffer'),
          link_expires_at: new Date(now() + body.link_expires_in * 1_000),
          expires_at: new Date(now() + body.expires_in * 1_000),
        });
        const shown = present(row);
        // The path's query may name a subject, and audit entries outlive an erasure.
        const fields = fieldChanges(null, { ...shown, path: shown.path.replace(/\?.*/s, '') }, audited);
        await changed({ action: 'console_session.created', objectId: row.id, organizationId, ...fields });
        return { ...shown, url: `${publicUrl}/console/enter#${token}` };
      });
    },

    list: async (owner: SessionOwner, request: ListConsoleSessionsQuery) => {
      if (publicUrl === undefined) return off;
      if ((await findOrganizationState(db, owner.organizationId)) === undefined) return problem('not_found');
      const scope = { list: 'console sessions', organizationId: owner.organizationId, filters: { key: owner.keyId } };
      const ask = (page: PageQuestion) => listSessions(db, owner, page);
      return paginate(cursors, request, scope, ask, (row) => presentWithState(row, now()));
    },

    /** Ends a session everywhere. */
    end: (transact: Transact, owner: SessionOwner, id: Uuid): Promise<Problem | undefined> =>
      transact(async ({ trx, changed }) => {
        const organizationId = await endSession(trx, owner, id);
        if (organizationId === undefined) return problem('not_found');
        await changed({ action: 'console_session.ended', objectId: id, organizationId, ...noFieldChanges });
        return undefined;
      }),
  };
}

const tooMany = problem('limit_reached', { message: `The organization has ${maxLive} live console sessions.` });

/** The scopes, path and allowlist of a new session, or why the caller may not mint it. */
function readMint({ organizationId, key, body }: Mint) {
  const home = `/console/${toPublicId('org', organizationId)}`;
  const { path = home } = body;
  if (path !== home && !path.startsWith(`${home}/`) && !path.startsWith(`${home}?`)) {
    return invalid([{ location: 'body', path: 'path', code: 'invalid_value', message: `must be below ${home}` }]);
  }
  const ip_allowlist = canonicalAllowlist(body.ip_allowlist);
  if (isProblem(ip_allowlist)) return ip_allowlist;
  const scopes = body.scopes ?? defaultConsoleScopes.filter((scope) => key === null || hasScope(key.scopes, scope));
  const beyond = key && scopeBeyond(key.scopes, scopes);
  return beyond ?? { scopes: [...scopes], path, ip_allowlist: ip_allowlist ?? null };
}

/** The 403 for scopes that the caller does not hold itself; null if it holds them all. */
export function scopeBeyond(granted: readonly ConsoleScope[], asked: readonly ConsoleScope[]): Problem | null {
  const isHeld = (scope: ConsoleScope) => (scope === '*' ? granted.includes('*') : hasScope(granted, scope));
  const scope = asked.find((each) => !isHeld(each));
  if (scope === undefined) return null;
  const message = `The caller does not hold the scope ${scope} itself.`;
  return problem('forbidden_scope', {
    message,
    ...(scope !== '*' && { requiredScope: scope }),
    headers: challenges.insufficientScope,
  });
}

function present(row: SessionRow) {
  return {
    id: toPublicId('ses', row.id),
    object: 'console_session' as const,
    organization_id: toPublicId('org', row.organization_id),
    link_expires_at: row.link_expires_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    scopes: row.scopes as Scope[],
    path: row.path,
    show_bodies: row.show_bodies,
    label: row.label,
    ip_allowlist: row.ip_allowlist,
    created_at: row.created_at.toISOString(),
  };
}

function presentWithState(row: SessionRow, nowMs: number): ConsoleSession {
  const isEnded = row.ends_at.getTime() <= nowMs;
  return {
    ...present(row),
    state: isEnded ? 'ended' : row.entered_at === null ? 'open' : 'entered',
    entered_at: row.entered_at?.toISOString() ?? null,
    ended_at: isEnded ? row.ends_at.toISOString() : null,
  };
}
