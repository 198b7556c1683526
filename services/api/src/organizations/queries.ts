import type { CreateOrganization, UpdateOrganization } from '@enterprise-api/shared/contracts';
import type { Database, DatabaseTransaction, Row } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';

const columns = [
  'id',
  'name',
  'plan',
  'external_id',
  'body_retention_seconds',
  'operator',
  'state',
  'closed_at',
  'created_at',
] as const;

export type OrganizationRow = Pick<Row<'organizations'>, (typeof columns)[number]>;

export async function insertOrganization(
  trx: DatabaseTransaction,
  organization: CreateOrganization & { id: Uuid },
): Promise<OrganizationRow> {
  return trx.insertInto('organizations').values(organization).returning(columns).executeTakeFirstOrThrow();
}

export async function findOrganization(db: Database, id: Uuid): Promise<OrganizationRow | undefined> {
  return db.selectFrom('organizations').select(columns).where('id', '=', id).executeTakeFirst();
}

export async function lockOrganization(trx: DatabaseTransaction, id: Uuid): Promise<OrganizationRow | undefined> {
  return trx.selectFrom('organizations').select(columns).where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

/** Lets one transaction at a time assign this external id. */
export async function lockExternalId(trx: DatabaseTransaction, externalId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`external id ${externalId}`}, 0))`.execute(trx);
}

export async function findByExternalId(db: Database, externalId: string): Promise<Uuid | undefined> {
  const row = await db
    .selectFrom('organizations')
    .select('id')
    .where('external_id', '=', externalId)
    .executeTakeFirst();
  return row?.id;
}

export async function listOrganizations(db: Database, page: PageQuestion, externalId: string | undefined) {
  return db
    .selectFrom('organizations')
    .select([...columns, positionOf('created_at')])
    .$if(externalId !== undefined, (query) => query.where('external_id', '=', externalId ?? ''))
    .where(isAfter(page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute();
}

export async function updateOrganization(
  trx: DatabaseTransaction,
  id: Uuid,
  changes: UpdateOrganization,
): Promise<OrganizationRow> {
  return trx
    .updateTable('organizations')
    .set(changes)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
}

/** A process that missed the notification accepts requests for 5 s longer. The erasure must include their data. */
const erasedAtEarliestSeconds = 10;

/** Frees the external id at once. */
export async function closeOrganization(
  trx: DatabaseTransaction,
  id: Uuid,
  eraseAfterSeconds: number,
): Promise<OrganizationRow> {
  const seconds = Math.max(eraseAfterSeconds, erasedAtEarliestSeconds);
  const eraseAt = sql<Date>`clock_timestamp() + make_interval(secs => ${seconds})`;
  return trx
    .updateTable('organizations')
    .set({ state: 'closing', external_id: null, erase_at: eraseAt })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
}

/** Ends the organization's console sessions, so that the list of sessions shows their end. */
export async function endSessionsOf(trx: DatabaseTransaction, id: Uuid): Promise<void> {
  const sessions = trx.updateTable('console_sessions').set({ ended_at: sql<Date>`clock_timestamp()` });
  await sessions.where('organization_id', '=', id).where('ended_at', 'is', null).execute();
}

export async function findActiveOrganizations(db: Database, ids: readonly Uuid[]): Promise<Uuid[]> {
  const rows = await db
    .selectFrom('organizations')
    .select('id')
    .where('id', 'in', ids)
    .where('state', '=', 'active')
    .execute();
  return rows.map((row) => row.id);
}

/** The closed organizations whose erasure is not due yet, or became due in the last hour. */
export async function findRecentlyClosed(db: Database): Promise<Uuid[]> {
  const { rows } = await sql<{ id: Uuid }>`
    select id from organizations where erase_at > now() - interval '1 hour'`.execute(db);
  return rows.map((row) => row.id);
}
