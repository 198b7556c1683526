import { readFileSync } from 'node:fs';
import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { createLogger } from '@enterprise-api/shared/runtime';
import { createTestDatabase, type TestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { expressionProblems } from '../../tools/monitoring/problems.ts';

const text = readFileSync(new URL('../../docs/runbooks.md', import.meta.url), 'utf8');
const codes = [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const statements = codes.filter((code) => /^select |^update /.test(code));
const expressions = codes.filter(
  (code) =>
    /^(api|webhook|ledger|database|process|nodejs|log)_\w+_\w+|^\w+( by \([\w, ]+\))? ?\(.*_/.test(code) &&
    !statements.includes(code),
);

let test: TestDatabase;
let db: Database;

beforeAll(async () => {
  test = await createTestDatabase();
  db = createDatabase({ url: test.url, applicationName: 'runbooks', poolSize: 1 });
});
afterAll(async () => {
  await db.destroy();
  await test[Symbol.asyncDispose]();
});

it.each(statements)('a statement of the runbooks can be planned: %s', async (statement) => {
  await expect(sql`explain ${sql.raw(statement)}`.execute(db)).resolves.toBeDefined();
});

it.each(expressions)('an expression of the runbooks reads metrics that there are: %s', (expression) => {
  expect(expressionProblems(expression.replaceAll('<area>', 'chat'))).toEqual([]);
});

it('there are statements and expressions', () => {
  expect(statements.length).toBeGreaterThan(8);
  expect(expressions.length).toBeGreaterThan(12);
});

it('the filter of log lines leaves those that warn, by the levels as the services write them', () => {
  const [, leaves = ''] = /select\(\.level \| IN\(([^)]+)\)\)/.exec(text) ?? [];
  const lines: string[] = [];
  const log = createLogger('a service', 'trace', { write: (line) => void lines.push(line) });
  for (const level of ['debug', 'info', 'warn', 'error', 'fatal'] as const) log[level]('a line');
  const written = lines.map((line) => `"${JSON.parse(line).level}"`);
  expect(written.filter((level) => leaves.split(', ').includes(level))).toEqual(['"warn"', '"error"', '"fatal"']);
});
