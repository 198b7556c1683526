import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { migrations } from '@enterprise-api/shared/ledger';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';

/** The SHA-256 of each migration's statements, whose indentation does not count. */
export async function hashMigrations(): Promise<Record<string, string>> {
  const hashes = Object.entries(migrations).map(
    async ([name, { up }]) => [name, hash(await statementsOf(up))] as const,
  );
  return Object.fromEntries(await Promise.all(hashes));
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

/** Runs a migration without a database. */
async function statementsOf(up: (db: Kysely<unknown>) => Promise<void>): Promise<string> {
  const statements: string[] = [];
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (introspected) => new PostgresIntrospector(introspected),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query.sql.trim().replace(/\s+/g, ' ')),
  });
  await up(db);
  return statements.join(';\n');
}

// A release runs `npm run released-migrations`: from then on these migrations never change.
if (import.meta.main) {
  writeFileSync('tools/released-migrations.json', `${JSON.stringify(await hashMigrations(), null, 2)}\n`);
}
