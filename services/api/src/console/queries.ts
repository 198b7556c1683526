import type { Database, DatabaseTransaction, NewRow, Row } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';

export type SessionRow = Row<'console_sessions'> & { ends_at: Date };

/** The sessions that a caller sees: all of an organization, or only those that the key `keyId` minted. */
export interface SessionOwner {
  organizationId: Uuid;
  keyId: Uuid | null;
}

/** The past or future end of a session. The session also ends with its key, or when its unused link expires. */
const endsAt = sql<Date>`least(ended_at, expires_at,
  (select least(k.revoked_at, k.expires_at) from api_keys k where k.id = key_id),
  case when entered_at is null then link_expires_at end)`;

/** Lets only one transaction at a time mint sessions of an organization. */
export async function lockSessions(trx: DatabaseTransaction, organizationId: Uuid): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`console sessions ${organizationId}`}, 0))`.execute(trx);
}

export async function countLiveSessions(trx: DatabaseTransaction, organizationId: Uuid): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from console_sessions
    where organization_id = ${organizationId} and ${endsAt} > now()`.execute(trx);
  return rows[0]?.count ?? 0;
}

export async function insertSession(
  trx: DatabaseTransaction,
  session: NewRow<'console_sessions'>,
): Promise<SessionRow> {
  const query = trx.insertInto('console_sessions').values(session).returningAll();
  return query.returning(endsAt.as('ends_at')).executeTakeFirstOrThrow();
}

export async function listSessions(db: Database, owner: SessionOwner, page: PageQuestion) {
  return selectSessions(db, owner)
    .select(positionOf('created_at'))
    .where(isAfter(page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute();
}

/** @returns the organization's id, or undefined if the caller sees no live session with this id */
export async function endSession(trx: DatabaseTransaction, owner: SessionOwner, id: Uuid): Promise<Uuid | undefined> {
  const found = await selectSessions(trx, owner)
    .where('id', '=', id)
    .where(endsAt, '>', sql<Date>`now()`)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const ended = await trx
    .updateTable('console_sessions')
    .set({ ended_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .returning('organization_id')
    .executeTakeFirst();
  return ended?.organization_id;
}

function selectSessions(db: Database, { organizationId, keyId }: SessionOwner) {
  const sessions = db.selectFrom('console_sessions').selectAll().select(endsAt.as('ends_at'));
  const own = sessions.where('organization_id', '=', organizationId);
  return keyId === null ? own : own.where('key_id', '=', keyId);
}

/**
 * Uses up a link.
 *
 * @returns undefined if the link was used before, or has expired
 */
export async function enterSession(trx: DatabaseTransaction, id: Uuid, cookieHash: Buffer) {
  return trx
    .updateTable('console_sessions')
    .set({ cookie_hash: cookieHash, entered_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('entered_at', 'is', null)
    .where('ended_at', 'is', null)
    .where(endsAt, '>', sql<Date>`now()`)
    .returning(['path', endsAt.as('ends_at')])
    .executeTakeFirst();
}

export async function findUsedLink(db: Database, linkHash: Buffer): Promise<Uuid | undefined> {
  const used = db.selectFrom('console_sessions').select('id').where('link_hash', '=', linkHash);
  return (await used.where('entered_at', 'is not', null).executeTakeFirst())?.id;
}

/** Notes, at most once a minute, that somebody tried a link that was used before. */
export async function noteReusedLink(trx: DatabaseTransaction, linkHash: Buffer) {
  return trx
    .updateTable('console_sessions')
    .set({ link_reused_at: sql<Date>`clock_timestamp()` })
    .where('link_hash', '=', linkHash)
    .where('entered_at', 'is not', null)
    .where((row) =>
      row.or([row('link_reused_at', 'is', null), row('link_reused_at', '<', sql<Date>`now() - interval '1 minute'`)]),
    )
    .returning('organization_id')
    .executeTakeFirst();
}

/** @returns the events that the actor has read, according to the audit log */
export async function findEventReads(trx: DatabaseTransaction, actor: string, eventIds: readonly Uuid[]) {
  const rows = trx.selectFrom('audit_log').select('object_id').where('object_id', 'in', eventIds);
  const reads = await rows.where('actor', '=', actor).where('action', '=', 'event.read').execute();
  return reads.map(({ object_id }) => object_id as Uuid);
}

export async function deleteOldSessions(db: Database, limit: number): Promise<number> {
  const { rows } = await sql`
    with old as materialized (
      select id from console_sessions where coalesce(ended_at, expires_at) < now() - interval '30 days'
      limit ${limit} for update skip locked
    )
    delete from console_sessions where id in (select id from old) returning id`.execute(db);
  return rows.length;
}
