import { webhookHeadersContext, webhookSecretContext } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { createSecretBox, type KeyRing, type SecretBox, SecretUnavailableError } from '@enterprise-api/shared/security';
import { answerContext } from '../idempotency/run-once.ts';
import { countOutdated, findUnder, lockOutdated, type SealedRow, type SealedTable, saveValues } from './queries.ts';

interface NamedTable extends SealedTable {
  name: string;
  context(row: SealedRow): string;
}

const sealedTables: readonly NamedTable[] = [
  {
    name: 'webhook secrets',
    table: 'webhooks',
    idType: 'uuid',
    columns: ['secret_sealed', 'previous_secret_sealed'],
    context: ({ organizationId, id }) => webhookSecretContext(organizationId, id),
  },
  {
    name: 'webhook headers',
    table: 'webhooks',
    idType: 'uuid',
    columns: ['headers_sealed'],
    context: ({ organizationId, id }) => webhookHeadersContext(organizationId, id),
  },
  {
    name: 'stored answers',
    table: 'idempotency_keys',
    idType: 'bytea',
    columns: ['body_sealed'],
    context: ({ organizationId, id }) => answerContext(organizationId, id.replace('\\x', '')),
  },
];

interface Reencrypted {
  name: string;
  changed: number;
  /** Rows that no key of the ring decrypts. They remain unchanged. */
  unreadable: number;
  /**
   * Readable rows that an older key still encrypts: another transaction held their locks, or a process still writes
   * with that key.
   */
  left: number;
}

export interface ReencryptOptions {
  batchSize?: number;
  /** Called and awaited after each committed batch. */
  onProgress?: (name: string, changed: number, toDo: number) => unknown;
  pause?: () => Promise<unknown>;
}

/** Each further pass retries rows that requests had locked. Requests hold locks for milliseconds. */
const maxPasses = 10;

/**
 * Encrypts every value under the ring's first key. Each batch is one transaction, so an interrupted run keeps its
 * committed batches. The next run continues after them. Several runs and the services may work at the same time.
 */
export async function reencrypt(db: Database, ring: KeyRing, options: ReencryptOptions = {}): Promise<Reencrypted[]> {
  const box = createSecretBox(ring);
  const results: Reencrypted[] = [];
  for (const table of sealedTables) results.push(await reencryptTable(table, db, box, ring[0].id, options));
  return results;
}

/** Rows per transaction. `isFirstKeyInUse` also reads this many rows per table, because some rows may be damaged. */
const rowsAtOnce = 200;

/**
 * True if the ledger contains a value that the ring's first key decrypts, so services already encrypt with it. If only
 * this process had the key, services could not read the new values. Also true if no value needs re-encryption.
 */
export async function isFirstKeyInUse(db: Database, ring: KeyRing): Promise<boolean> {
  const box = createSecretBox(ring);
  const outdated = await Promise.all(sealedTables.map((table) => countOutdated(db, table, ring[0].id)));
  if (outdated.every((count) => count === 0)) return true;
  for (const table of sealedTables) {
    const rows = await findUnder(db, table, ring[0].id, rowsAtOnce);
    if (rows.some((row) => sealAgain(row.values, table.context(row), box) !== null)) return true;
  }
  return false;
}

async function reencryptTable(
  table: NamedTable,
  db: Database,
  box: SecretBox,
  keyId: string,
  { batchSize = rowsAtOnce, onProgress, pause = async () => undefined }: ReencryptOptions,
): Promise<Reencrypted> {
  const unreadable = new Set<string>();
  const toDo = await countOutdated(db, table, keyId);
  let changed = 0;
  let left = toDo;
  for (let pass = 0; pass < maxPasses && left > 0; pass++) {
    if (pass > 0) await pause();
    let after: string | null = null;
    do {
      const batch = await reencryptBatch(table, db, box, { keyId, after, limit: batchSize });
      for (const id of batch.unreadable) unreadable.add(id);
      changed += batch.changed;
      after = batch.last;
      if (batch.changed > 0) await onProgress?.(table.name, changed, toDo);
    } while (after !== null);
    left = Math.max(0, (await countOutdated(db, table, keyId)) - unreadable.size);
  }
  return { name: table.name, changed, unreadable: unreadable.size, left };
}

/** `last` is null at the end of the table. */
function reencryptBatch(
  table: NamedTable,
  db: Database,
  box: SecretBox,
  page: { keyId: string; after: string | null; limit: number },
): Promise<{ changed: number; unreadable: string[]; last: string | null }> {
  return db.transaction().execute(async (trx) => {
    const rows = await lockOutdated(trx, table, page.keyId, page);
    const sealed: SealedRow[] = [];
    const unreadable: string[] = [];
    for (const row of rows) {
      const values = sealAgain(row.values, table.context(row), box);
      if (values === null) unreadable.push(row.id);
      else sealed.push({ ...row, values });
    }
    if (sealed.length > 0) await saveValues(trx, table, sealed);
    return { changed: sealed.length, unreadable, last: rows.length < page.limit ? null : (rows.at(-1)?.id ?? null) };
  });
}

/** Null if one of the values cannot be decrypted with any key of the ring. */
function sealAgain(values: readonly (string | null)[], context: string, box: SecretBox): (string | null)[] | null {
  try {
    return values.map((value) => (value === null ? null : box.seal(box.open(value, context), context)));
  } catch (error) {
    if (error instanceof SecretUnavailableError) return null;
    throw error;
  }
}
