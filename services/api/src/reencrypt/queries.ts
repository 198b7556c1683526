import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { type RawBuilder, sql } from 'kysely';

/** A table with encrypted values. Each value contains its key's id: `v1.<key id>.<nonce>.<ciphertext>`. */
export interface SealedTable {
  table: 'webhooks' | 'idempotency_keys';
  idType: 'uuid' | 'bytea';
  columns: readonly string[];
}

export interface SealedRow {
  id: string;
  organizationId: string;
  values: (string | null)[];
}

const refs = ({ columns }: SealedTable) => sql.join(columns.map((column) => sql.ref(column)));

const shown = (from: SealedTable) =>
  sql`id::text as id, organization_id as "organizationId", array[${refs(from)}] as "values"`;

function isOutdated({ columns }: SealedTable, keyId: string): RawBuilder<unknown> {
  const other = columns.map((column) => sql`split_part(${sql.ref(column)}, '.', 2) <> ${keyId}`);
  return sql`(${sql.join(other, sql` or `)})`;
}

/**
 * Locks the next rows with a value under another key. Includes deleted webhooks, because a key may be removed from the
 * ring only when no value needs it. Skips rows that are already locked.
 *
 * @param after last id of the previous batch; null for the first batch
 */
export async function lockOutdated(
  trx: DatabaseTransaction,
  from: SealedTable,
  keyId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<SealedRow[]> {
  const { rows } = await sql<SealedRow>`
    select ${shown(from)} from ${sql.table(from.table)}
    where (${after}::text is null or id > ${after}::text::${sql.raw(from.idType)}) and ${isOutdated(from, keyId)}
    order by ${sql.ref(`${from.table}.id`)} limit ${limit} for no key update skip locked`.execute(trx);
  return rows;
}

export async function findUnder(db: Database, from: SealedTable, keyId: string, limit: number): Promise<SealedRow[]> {
  const { rows } = await sql<SealedRow>`
    select ${shown(from)} from ${sql.table(from.table)}
    where split_part(${sql.ref(from.columns[0] as string)}, '.', 2) = ${keyId}
    order by created_at desc limit ${limit}`.execute(db);
  return rows;
}

/** Writes the ciphertexts. Webhooks keep their version, because their secrets do not change. */
export async function saveValues(trx: DatabaseTransaction, into: SealedTable, rows: readonly SealedRow[]) {
  const assignments = into.columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`x.${column}`)}`);
  const values = into.columns.map((_, index) => sql`${rows.map((row) => row.values[index])}::text[]`);
  await sql`
    update ${sql.table(into.table)} t set ${sql.join(assignments)}
    from unnest(${rows.map((row) => row.id)}::text[], ${sql.join(values)}) as x (id, ${refs(into)})
    where t.id = x.id::${sql.raw(into.idType)}`.execute(trx);
}

export async function countOutdated(db: Database, from: SealedTable, keyId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(from.table)} where ${isOutdated(from, keyId)}`.execute(db);
  return rows[0]?.count ?? 0;
}
