const header = `# Every setting of both services that is no secret, with its default. \`npm run kubernetes\` makes this file from .env.example.
# An overlay sets one among its literals; secrets are keys of the Secret enterprise-api.
`;

/**
 * The settings of the ConfigMap as an operator reads them: the settings of .env.example, each commented out.
 *
 * @param example the text of .env.example: comments, and below them `NAME=` or `# NAME=default`
 * @param secrets the names that stay out, with their comments
 */
export function settingsFile(example: string, secrets: ReadonlySet<string>): string {
  const [, ...sections] = example.split(/^(?=# --- )/m);
  const kept = sections.map((section) => withoutSecrets(section, secrets));
  return [header, ...kept].join('\n').replace(/\n{3,}/g, '\n\n');
}

function withoutSecrets(section: string, secrets: ReadonlySet<string>): string {
  const kept: string[] = [];
  let comment: string[] = [];
  for (const line of section.split('\n')) {
    const [, name, value] = /^(?:# )?([A-Z][A-Z_]+)=(.*)$/.exec(line) ?? [];
    if (name === undefined && line.startsWith('#')) {
      comment.push(line);
      continue;
    }
    if (name === undefined) kept.push(...comment, line);
    else if (!secrets.has(name)) kept.push(...comment, `# ${name}=${value}`);
    comment = [];
  }
  return kept.join('\n');
}
