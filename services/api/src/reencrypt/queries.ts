import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { type RawBuilder, sql } from 'kysely';

/** A row with its encrypted values; a value that is null stays null. */
export interface SealedRow {
  /** As text, whatever the type of the column is. */
  id: string;
  organizationId: string;
  values: (string | null)[];
}

/** The key that a value was sealed with is named in it: `v1.<key id>.<nonce>.<ciphertext>`. */
function isSealedWithOther(column: string, keyId: string): RawBuilder<boolean> {
  return sql`(${sql.ref(column)} is not null and split_part(${sql.ref(column)}, '.', 2) <> ${keyId})`;
}

const isOutdatedWebhook = (keyId: string) =>
  sql`(${isSealedWithOther('secret_sealed', keyId)} or ${isSealedWithOther('previous_secret_sealed', keyId)})`;

/**
 * Locks the next webhooks with a secret under another key, deleted webhooks included: a key may be removed from the ring
 * only when no value needs it. Rows that are locked already are skipped.
 *
 * @param after the last id of the batch before; null for the first batch
 */
export async function lockWebhooks(
  trx: DatabaseTransaction,
  keyId: string,
  after: string | null,
  limit: number,
): Promise<SealedRow[]> {
  const { rows } = await sql<SealedRow>`
    select id, organization_id as "organizationId", array[secret_sealed, previous_secret_sealed] as "values"
    from webhooks where (${after}::uuid is null or id > ${after}::uuid) and ${isOutdatedWebhook(keyId)}
    order by id limit ${limit} for no key update skip locked`.execute(trx);
  return rows;
}

/** The newest secrets under a key. */
export async function findWebhooksUnder(db: Database, keyId: string, limit: number): Promise<SealedRow[]> {
  const { rows } = await sql<SealedRow>`
    select id, organization_id as "organizationId", array[secret_sealed] as "values" from webhooks
    where split_part(secret_sealed, '.', 2) = ${keyId} order by id desc limit ${limit}`.execute(db);
  return rows;
}

/** Writes the ciphertexts. The version stays: the secrets are the same. */
export async function saveWebhooks(trx: DatabaseTransaction, rows: readonly SealedRow[]): Promise<void> {
  await sql`
    update webhooks w set secret_sealed = x.current, previous_secret_sealed = x.previous
    from unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.values[0])}::text[],
                ${rows.map((row) => row.values[1])}::text[]) as x(id, current, previous)
    where w.id = x.id`.execute(trx);
}

export async function countWebhooks(db: Database, keyId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from webhooks where ${isOutdatedWebhook(keyId)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Locks stored answers of requests with an `Idempotency-Key`. The answer to creating a webhook holds its secret. */
export async function lockAnswers(
  trx: DatabaseTransaction,
  keyId: string,
  after: string | null,
  limit: number,
): Promise<SealedRow[]> {
  const { rows } = await sql<SealedRow>`
    select encode(id, 'hex') as id, organization_id as "organizationId", array[body_sealed] as "values"
    from idempotency_keys
    where (${after}::text is null or id > decode(${after}::text, 'hex')) and ${isSealedWithOther('body_sealed', keyId)}
    order by idempotency_keys.id limit ${limit} for no key update skip locked`.execute(trx);
  return rows;
}

/** The newest answers under a key. */
export async function findAnswersUnder(db: Database, keyId: string, limit: number): Promise<SealedRow[]> {
  const { rows } = await sql<SealedRow>`
    select encode(id, 'hex') as id, organization_id as "organizationId", array[body_sealed] as "values"
    from idempotency_keys
    where split_part(body_sealed, '.', 2) = ${keyId} order by created_at desc limit ${limit}`.execute(db);
  return rows;
}

export async function saveAnswers(trx: DatabaseTransaction, rows: readonly SealedRow[]): Promise<void> {
  await sql`
    update idempotency_keys k set body_sealed = x.body
    from unnest(${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.values[0])}::text[]) as x(id, body)
    where k.id = decode(x.id, 'hex')`.execute(trx);
}

export async function countAnswers(db: Database, keyId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from idempotency_keys where ${isSealedWithOther('body_sealed', keyId)}`.execute(db);
  return rows[0]?.count ?? 0;
}
