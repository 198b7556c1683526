interface Setting {
  readonly name: string;
  readonly value: string;
  readonly isOptional: boolean;
  readonly description: string;
}

/**
 * The page of all settings, made from .env.example.
 *
 * @param example comments, and below them `NAME=` (required) or `# NAME=default`
 */
export function settingsPage(example: string): string {
  const [header = '', ...sections] = example.split(/^# --- (?=.* ---$)/m);
  const secrets = (header.match(/\b[A-Z]+_[A-Z_]+\b/g) ?? []).filter((name) => name !== 'NAME_FILE');
  const tables = sections.map((section) => {
    const [title = '', ...lines] = section.split('\n');
    return `## ${title.replace(/ ---$/, '')}\n\n| setting | default | meaning |\n|---|---|---|\n${readSettings(lines).map(rowOf).join('')}`;
  });
  return `# Settings

Made from \`.env.example\` by \`npm run reference\`. Each process reads environment variables once, at start.

- Durations are a number and \`ms\`, \`s\`, \`m\` or \`h\`. An empty value counts as unset.
- A file may hold a secret: set \`NAME_FILE\` to its path instead of \`NAME\`. Secrets are ${secrets.map((name) => `\`${name}\``).join(', ')}.

${tables.join('\n')}`;
}

function readSettings(lines: readonly string[]): Setting[] {
  const found: Setting[] = [];
  let comment: string[] = [];
  for (const line of lines) {
    const [, hash, name, value = ''] = /^(# )?([A-Z][A-Z_]+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) {
      found.push({ name, value, isOptional: hash !== undefined, description: comment.join(' ') });
      comment = [];
    } else if (line.startsWith('# ')) comment.push(line.slice(2));
    else comment = [];
  }
  return found;
}

function rowOf({ name, value, isOptional, description }: Setting): string {
  const standard = isOptional ? 'unset' : 'required';
  return `| \`${name}\` | ${value === '' ? standard : `\`${value}\``} | ${description.replaceAll('|', '\\|')} |\n`;
}
