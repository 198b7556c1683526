import { webhookSecretContext } from '@enterprise-api/shared/contracts';
import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { createSecretBox, type KeyRing, type SecretBox, SecretUnavailableError } from '@enterprise-api/shared/security';
import { answerContext } from '../idempotency/run-once.ts';
import {
  countAnswers,
  countWebhooks,
  lockAnswers,
  lockWebhooks,
  type SealedRow,
  saveAnswers,
  saveWebhooks,
} from './queries.ts';

/** Rows of one kind with something encrypted in them. */
interface Vault {
  /** In the plural, for people. */
  name: string;
  /** What a row's values are sealed for. */
  context(row: SealedRow): string;
  lock(trx: DatabaseTransaction, keyId: string, after: string | null, limit: number): Promise<SealedRow[]>;
  save(trx: DatabaseTransaction, rows: readonly SealedRow[]): Promise<void>;
  /** How many rows have a value under another key than this one. */
  count(db: Database, keyId: string): Promise<number>;
}

const vaults: readonly Vault[] = [
  {
    name: 'webhook secrets',
    context: (row) => webhookSecretContext(row.organizationId, row.id),
    lock: lockWebhooks,
    save: saveWebhooks,
    count: countWebhooks,
  },
  {
    name: 'stored answers',
    context: (row) => answerContext(row.organizationId, row.id),
    lock: lockAnswers,
    save: saveAnswers,
    count: countAnswers,
  },
];

/** What became of one vault. */
export interface Reencrypted {
  name: string;
  changed: number;
  /** No key of the ring opens these: they stay as they are. */
  unreadable: number;
  /** Readable, and still under an older key: somebody held their locks, or goes on writing with that key. */
  left: number;
}

export interface ReencryptOptions {
  batchSize?: number;
  /** After each batch is committed; waited for. */
  onProgress?: (name: string, changed: number, toDo: number) => unknown;
  /** Waits between two walks over what others had locked. */
  pause?: () => Promise<unknown>;
}

/** Others hold a row's lock for milliseconds: this many walks meet whoever is not stuck. */
const walks = 10;

/**
 * Encrypts everything under the ring's first key. Each batch is a transaction of its own: whenever it is cut off, what
 * is done is done and what is not is as it was, and the next run goes on. Any number of runs, and the services, may
 * work beside it.
 */
export async function reencrypt(db: Database, ring: KeyRing, options: ReencryptOptions = {}): Promise<Reencrypted[]> {
  const box = createSecretBox(ring);
  const done: Reencrypted[] = [];
  for (const vault of vaults) done.push(await empty(vault, db, box, ring[0].id, options));
  return done;
}

async function empty(
  vault: Vault,
  db: Database,
  box: SecretBox,
  keyId: string,
  { batchSize = 200, onProgress, pause = async () => undefined }: ReencryptOptions,
): Promise<Reencrypted> {
  const unreadable = new Set<string>();
  const toDo = await vault.count(db, keyId);
  let changed = 0;
  let left = toDo;
  for (let walk = 0; walk < walks && left > 0; walk++) {
    if (walk > 0) await pause();
    let after: string | null = null;
    do {
      const batch = await reseal(vault, db, box, { keyId, after, limit: batchSize });
      for (const id of batch.unreadable) unreadable.add(id);
      changed += batch.changed;
      after = batch.last;
      if (batch.changed > 0) await onProgress?.(vault.name, changed, toDo);
    } while (after !== null);
    left = Math.max(0, (await vault.count(db, keyId)) - unreadable.size);
  }
  return { name: vault.name, changed, unreadable: unreadable.size, left };
}

/** One batch, one transaction. `last` is null at the end of the walk. */
function reseal(
  vault: Vault,
  db: Database,
  box: SecretBox,
  page: { keyId: string; after: string | null; limit: number },
): Promise<{ changed: number; unreadable: string[]; last: string | null }> {
  return db.transaction().execute(async (trx) => {
    const rows = await vault.lock(trx, page.keyId, page.after, page.limit);
    const sealed: SealedRow[] = [];
    const unreadable: string[] = [];
    for (const row of rows) {
      const values = sealAgain(row.values, vault.context(row), box);
      if (values === null) unreadable.push(row.id);
      else sealed.push({ ...row, values });
    }
    if (sealed.length > 0) await vault.save(trx, sealed);
    return { changed: sealed.length, unreadable, last: rows.length < page.limit ? null : (rows.at(-1)?.id ?? null) };
  });
}

function sealAgain(values: readonly (string | null)[], context: string, box: SecretBox): (string | null)[] | null {
  try {
    return values.map((value) => (value === null ? null : box.seal(box.open(value, context), context)));
  } catch (error) {
    if (error instanceof SecretUnavailableError) return null;
    throw error;
  }
}
