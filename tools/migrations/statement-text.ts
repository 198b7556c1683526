/** What a rule must not read: bodies of functions, comments, and texts. Whichever begins first holds the others. */
const opaque = /\$([a-z_]\w*)?\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|\be'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'/gi;

/**
 * The statements of a text, in lower case, without comments and repeated spaces, and without what a function's body or a text
 * constant holds. An `alter table` that does several things becomes a statement for each.
 */
export function plainStatements(text: string): string[] {
  const plain = text
    .replace(opaque, (found) => (found.endsWith("'") ? "''" : ' '))
    .replaceAll('"', '')
    .replace(/\s+/g, ' ')
    .toLowerCase();
  return plain
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
    .flatMap(actions);
}

/** `alter table t add column a int, drop column b`: what it does, one by one. */
function actions(statement: string): string[] {
  const [, table, rest] = /^(alter table (?:if exists )?(?:only )?\S+(?: \*)?) (.*)$/.exec(statement) ?? [];
  if (table === undefined || rest === undefined) return [statement];
  return splitOutsideBrackets(rest).map((action) => `${table} ${action}`);
}

function splitOutsideBrackets(list: string): string[] {
  const parts: string[] = [];
  let [depth, begin] = [0, 0];
  for (let at = 0; at < list.length; at++) {
    const character = list[at];
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character !== ',' || depth > 0) continue;
    parts.push(list.slice(begin, at));
    begin = at + 1;
  }
  return [...parts, list.slice(begin)].map((part) => part.trim());
}
