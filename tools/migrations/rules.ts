import { plainStatements } from './statement-text.ts';

/** A migration as its rules see it. */
export interface MigrationUnderRules {
  name: string;
  /** What it sends to the database, in order, without its online indexes. */
  statements: readonly string[];
  /** The version since which no code uses what the migration removes, where it says so. */
  unusedSince: string | undefined;
  /** Why the statements of services of the version before can go on with its triggers, where it says so. */
  triggersAreSafe?: string | undefined;
  /** Versions that are released. */
  released: readonly string[];
}

/**
 * The first migration that must let the services of the released version before it go on: those before it came before the
 * first release, whose ledgers are upgraded with a stop.
 */
export const firstUnderRules = '0025';

/** Patterns of one statement, or of one action of an `alter table`, and what it does. */
type Rules = readonly (readonly [RegExp, string])[];

/** What breaks a service of the version before, or the statements that it has under way. */
const contracts: Rules = [
  [/^drop (table|materialized view|view|schema|sequence|type|function|procedure|domain|trigger|owned)\b/, 'drops'],
  [/^alter .*\bdrop (column|constraint)\b/, 'drops'],
  // The word `column` may be left out.
  [/^alter table .*?\bdrop (?!column|constraint|not null|default|identity|expression)/, 'drops'],
  [/^drop index\b/, 'drops an index'],
  [/^alter .*\brename\b/, 'renames'],
  [/^alter .*\bset schema\b/, 'renames'],
  [/\bset not null\b/, 'forbids null'],
  [/^alter table .*\badd (constraint \S+ )?not null\b/, 'forbids null'],
  [/\balter (column )?\S+ (set data )?type\b/, 'changes the type of a column'],
  [/\b(drop|set) default\b/, 'changes a default'],
  [
    /^alter table .*\balter (column )?\S+ (add generated|set generated|drop identity|drop expression)\b/,
    'changes a default',
  ],
  [/\bdrop not null\b/, 'lets the services of before find null where they expect none'],
  [/^truncate\b/, 'empties a table'],
  [/^alter table .*\bdetach partition\b/, 'takes rows away'],
  [/\b(enable|force) row level security\b/, 'takes rows away'],
  [/^alter table .*\b(enable|disable) (always |replica )?(trigger|rule)\b/, 'changes what a statement does'],
  [/^create (or replace )?rule\b/, 'changes what a statement does'],
  [/^revoke\b/, 'takes a right away'],
  [/^(do|call)\b/, 'runs code that these rules cannot read'],
];

/** An action that adds a column: the word `column` may be left out. */
const column = String.raw`^alter table .*?\badd (?:column )?(?:if not exists )?(?!column|constraint|check|unique|primary|foreign|exclude|not null|generated|if not)\S+ `;
const newColumn = (rest: string) => new RegExp(column + rest);

/** What keeps others waiting for as long as the table is large; there is another way for each. */
const longLocks: Rules = [
  [/^create (unique )?index\b/, 'builds an index in a transaction: use onlineIndexes of ledger/online-index.ts'],
  [/^reindex\b(?!.*\bconcurrently\b)/, 'builds an index in a transaction: use onlineIndexes of ledger/online-index.ts'],
  [
    /^alter table .*\badd (constraint \S+ )?(primary key|unique|exclude)\b(?! using index)/,
    'builds an index: add the constraint `using index` of an online one',
  ],
  [
    newColumn(String.raw`.*\b(unique|primary key)\b`),
    'builds an index: add the constraint `using index` of an online one',
  ],
  [
    /^alter table .*\badd (constraint \S+ )?(check|foreign key)\b(?!.*\bnot valid\b)/,
    'reads every row for a constraint: add it `not valid`, and validate it in a migration of its own',
  ],
  [
    newColumn(String.raw`.*\bcheck\b`),
    'reads every row for a constraint: add it `not valid`, and validate it in a migration of its own',
  ],
  [/^lock\b/, 'locks a table'],
  [/^(cluster\b|vacuum\b.*\bfull\b|refresh materialized view\b)/, 'rewrites a table'],
  [/^alter table .*\bset (logged|unlogged|tablespace|access method|expression)\b/, 'rewrites a table'],
  [
    newColumn(
      String.raw`.*\bdefault (\w+\.)?(clock_timestamp|timeofday|gen_random_uuid|random|uuidv7|uuidv4|nextval)\b`,
    ),
    'rewrites a table: add the column without a default, then set it for new rows',
  ],
  [
    newColumn(String.raw`.*?\b((big|small)?serial[248]?\b|generated\b.*\b(stored|identity)\b)`),
    'rewrites a table: add a column that is empty, and fill it in portions',
  ],
  [
    newColumn(String.raw`(?=.*\bnot null\b)(?!.*\b(default|generated|(big|small)?serial[248]?)\b)`),
    'adds a column that inserts of the version before leave empty: give it a default, or let it be null',
  ],
  [
    /^(with\b.*)?\b(update|delete from) (only )?(events|event_keys|outbox|deliveries|pending_deliveries|attempts|audit_log)\b/,
    'changes the rows of a large table in one transaction: fill it in small steps, in a service or a command',
  ],
];

const trigger = /^create (or replace )?(constraint )?trigger\b/;

/** What breaks the rules of docs/upgrading.md, in words. A table that the migration itself creates is nobody's yet. */
export function migrationProblems(migration: MigrationUnderRules): string[] {
  const { name, statements } = migration;
  if (name < firstUnderRules) return [];
  const texts = statements.flatMap(plainStatements);
  const ofOthers = texts.filter((text) => !created(texts).some((table) => isAbout(text, table)));
  const problems = [
    ...ofOthers.flatMap((text) => found(text, longLocks)),
    ...triggerProblems(migration, ofOthers),
    ...contractProblems(
      migration,
      ofOthers.flatMap((text) => found(text, contracts)),
    ),
  ];
  return problems.map((problem) => `${name}: ${problem}`);
}

function contractProblems({ unusedSince, released }: MigrationUnderRules, removed: readonly string[]): string[] {
  if (unusedSince === undefined) {
    const advice = 'that is a contract migration, which exports `unusedSince`, the version that stopped using it';
    return removed.map((problem) => `${problem}: ${advice}`);
  }
  if (released.includes(unusedSince)) return [];
  return [`unused since ${unusedSince}, which is not released: the services of before still use it`];
}

/** A trigger takes a moment's lock, but from then on it is part of each statement of services that do not know it. */
function triggerProblems({ triggersAreSafe = '' }: MigrationUnderRules, texts: readonly string[]): string[] {
  if (triggersAreSafe.trim() !== '' || !texts.some((text) => trigger.test(text))) return [];
  return [
    'adds a trigger, which also fires in statements of the version before: export `triggersAreSafe`, a sentence that says ' +
      'why they go on as before',
  ];
}

function created(texts: readonly string[]): string[] {
  const table = /^create (?:(?:temporary|temp|unlogged) )?table (?:if not exists )?([\w.]+)/;
  return texts.flatMap((text) => table.exec(text)?.[1] ?? []);
}

/** Whether the statement is one on this table: `create index … on it`, `alter table it`. */
function isAbout(text: string, table: string): boolean {
  const statement =
    '(create ((temporary|temp|unlogged) )?table( if not exists)?|alter table( if exists)?( only)?' +
    '|create (unique )?index .* on( only)?|create (or replace )?(constraint )?trigger .* on|update|delete from)';
  return new RegExp(`^${statement} ${table.replaceAll('.', '\\.')}(?![\\w.])`).test(text);
}

function found(text: string, rules: Rules): string[] {
  return rules.filter(([pattern]) => pattern.test(text)).map(([, problem]) => problem);
}
