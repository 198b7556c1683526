import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { createLogger } from '@enterprise-api/shared/runtime';
import { createTestDatabase, projectFolder, type TestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { readCommandTree } from '../../packages/cli/src/completion/command-tree.ts';
import { createProgram } from '../../packages/cli/src/program.ts';
import { testIo } from '../../packages/cli/src/testing/test-io.ts';
import { expressionProblems } from '../../tools/monitoring/problems.ts';

const text = readFileSync(new URL('../../docs/operators/runbooks.md', import.meta.url), 'utf8');
const lookAndAct = readFileSync(new URL('../../docs/operators/look-and-act.md', import.meta.url), 'utf8');
const withoutBlocks = text.replace(/^```[\s\S]*?^```$/gm, '');
const codes = [...withoutBlocks.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const statements = codes.filter((code) => /^(select|update|insert) /.test(code));
const expressions = codes.filter(
  (code) =>
    /^(api|webhook|ledger|database|process|nodejs|log)_\w+_\w+|^\w+( by \([\w, ]+\))? ?\(.*_/.test(code) &&
    !statements.includes(code),
);

/** What services log, which is not all in one place; programs of the machine and words of SQL have spaces as well. */
const otherPrograms = /^(enterprise-api|kubectl|docker|make|npx|curl|redis-cli|chronyc|ip|ss|ulimit|config|vacuum) /;
const logLines = codes.filter((code) => /^[a-z][a-z'-]+( [a-z;:',-]+)+( …)?$/.test(code) && !otherPrograms.test(code));
const sources = globSync(['services/*/src/**/*.ts', 'packages/shared/src/**/*.ts'], { cwd: projectFolder })
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(projectFolder, file), 'utf8'))
  .join('\n');
const commands = codes.filter((code) => /^(npx )?enterprise-api \w/.test(code));
const known = readCommandTree(createProgram(testIo()));

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

it.each(logLines)('a service logs what the runbooks look for: %s', (line) => {
  expect(sources).toContain(line.replace(/ …$/, ''));
});

it.each(commands)('the command line has what the runbooks say: %s', (command) => {
  const words = command.replace(/^(npx )?enterprise-api /, '').split(' ');
  const found = known.filter(({ path }) => path !== '' && `${words.join(' ')} `.startsWith(`${path} `)).at(-1);
  const options = found?.options.flatMap(({ names }) => names) ?? [];
  expect({ command, path: found?.path }).toEqual({
    command,
    path: expect.stringMatching(/^(ops \w|audit|runbook|keys \w)/),
  });
  expect(words.filter((word) => word.startsWith('-') && !options.includes(word))).toEqual([]);
});

it('no runbook but ApiDown needs psql', () => {
  const sections = text.split(/^### /m).filter((section) => /psql|pg_(terminate|cancel)_backend/.test(section));
  expect(sections.map((section) => section.split('\n', 1)[0])).toEqual(['ApiDown']);
});

it('there are statements, expressions, log lines and commands', () => {
  expect(statements.length).toBeGreaterThan(0);
  expect(expressions.length).toBeGreaterThan(12);
  expect(logLines.length).toBeGreaterThan(8);
  expect(commands.length).toBeGreaterThan(8);
});

it('the filter of log lines leaves those that warn, by the levels as the services write them', () => {
  const [, leaves = ''] = /select\(\.level \| IN\(([^)]+)\)\)/.exec(lookAndAct) ?? [];
  const lines: string[] = [];
  const log = createLogger('a service', 'trace', { write: (line) => void lines.push(line) });
  for (const level of ['debug', 'info', 'warn', 'error', 'fatal'] as const) log[level]('a line');
  const written = lines.map((line) => `"${JSON.parse(line).level}"`);
  expect(written.filter((level) => leaves.split(', ').includes(level))).toEqual(['"warn"', '"error"', '"fatal"']);
});
