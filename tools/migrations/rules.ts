/** A migration as its rules see it. */
export interface MigrationUnderRules {
  name: string;
  /** What it sends to the database, in order, without its online indexes. */
  statements: readonly string[];
  /** The version since which no code uses what the migration removes, where it says so. */
  unusedSince: string | undefined;
  /** Versions that are released. */
  released: readonly string[];
}

/**
 * The first migration that must let the services of the released version before it go on: those before it came before the
 * first release, whose ledgers are upgraded with a stop.
 */
export const firstUnderRules = '0025';

/** What breaks a service of the version before, or the statements that it has under way. */
const contracts: readonly [RegExp, string][] = [
  [/\bdrop\s+(table|materialized view|view|schema|sequence|type|function|column|constraint|trigger)\b/, 'drops'],
  [/\bdrop\s+index\b/, 'drops an index'],
  [/\balter\s+table\b[^;]*\brename\b/, 'renames'],
  [/\balter\s+(index|view|type|function|sequence)\b[^;]*\brename\b/, 'renames'],
  [/\bset\s+not\s+null\b/, 'forbids null'],
  [/\balter\s+(column\s+)?\S+\s+(set\s+data\s+)?type\b/, 'changes the type of a column'],
  [/\b(drop|set)\s+default\b/, 'changes a default'],
  [/\btruncate\b/, 'empties a table'],
  [/\brevoke\b/, 'takes a right away'],
  [/\bdrop\s+not\s+null\b/, 'lets the services of before find null where they expect none'],
  [/^do\b/, 'runs code that these rules cannot read'],
];

/** What keeps others waiting for as long as the table is large; there is another way for each. */
const longLocks: readonly [RegExp, string][] = [
  [/\bcreate\s+(unique\s+)?index\b/, 'builds an index in a transaction: use onlineIndexes of ledger/online-index.ts'],
  [
    /\badd\s+(primary\s+key|unique)\b(?!\s+using)/,
    'builds an index: add the constraint `using index` of an online one',
  ],
  [
    /\badd\s+(constraint\s+\S+\s+)?(check|foreign\s+key)\b(?!((?!\badd\b).)*\bnot\s+valid\b)/,
    'reads every row for a constraint: add it `not valid`, and validate it in a migration of its own',
  ],
  [/\block\s+table\b/, 'locks a table'],
  [/\b(cluster|vacuum\s+full)\b/, 'rewrites a table'],
  [
    /\badd\s+column\b(?=[^,]*\bdefault\s+(clock_timestamp|gen_random_uuid|random|uuidv7|nextval)\b)/,
    'rewrites a table: add the column without a default, then set it for new rows',
  ],
  [
    /\badd\s+(?!generated\b)((?!\badd\b).)*\b((big|small)?serial[248]?|generated\b((?!\badd\b).)*\b(stored|identity))\b/,
    'rewrites a table: add a column that is empty, and fill it in portions',
  ],
  [
    /\badd\s+column\b(?=[^,]*\bnot\s+null\b)(?![^,]*\bdefault\b)/,
    'adds a column that inserts of the version before leave empty: give it a default, or let it be null',
  ],
];

/** What breaks the rules of docs/operations.md#upgrade, in words. A table that the migration itself creates is nobody's yet. */
export function migrationProblems({ name, statements, unusedSince, released }: MigrationUnderRules): string[] {
  if (name < firstUnderRules) return [];
  const texts = statements.flatMap((statement) => plain(statement).split(/ ?; ?/)).filter((text) => text !== '');
  const ofOthers = texts.filter((text) => !created(texts).some((table) => isAbout(text, table)));
  const removed = ofOthers.flatMap((text) => found(text, contracts));
  const problems = ofOthers.flatMap((text) => found(text, longLocks).map((problem) => `${name}: ${problem}`));
  if (unusedSince === undefined) {
    const advice = 'that is a contract migration, which exports `unusedSince`, the version that stopped using it';
    return [...problems, ...removed.map((problem) => `${name}: ${problem}: ${advice}`)];
  }
  if (!released.includes(unusedSince)) {
    return [
      ...problems,
      `${name}: unused since ${unusedSince}, which is not released: the services of before still use it`,
    ];
  }
  return problems;
}

/** Lower case, without comments and repeated spaces, and without what a function's body or a text holds. */
function plain(statement: string): string {
  return statement
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, ' ')
    .replace(/--[^\n]*/g, ' ')
    .replace(/\/\*[\s\S]*?\*\//g, ' ')
    .replace(/'(?:[^']|'')*'/g, "''")
    .replaceAll('"', '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

function created(texts: readonly string[]): string[] {
  return texts.flatMap((text) => /^create table (?:if not exists )?([\w.]+)/.exec(text)?.[1] ?? []);
}

/** Whether the statement is one on this table: `create index … on it`, `alter table it`. */
function isAbout(text: string, table: string): boolean {
  return new RegExp(
    `^(create table( if not exists)?|alter table( if exists)?( only)?|create (unique )?index .* on( only)?) ${table}\\b`,
  ).test(text);
}

function found(text: string, rules: readonly [RegExp, string][]): string[] {
  return rules.filter(([pattern]) => pattern.test(text)).map(([, problem]) => problem);
}
