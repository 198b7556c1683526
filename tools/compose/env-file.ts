import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Environment } from '@enterprise-api/shared/runtime';

/** The secrets that docker-compose.yml cannot do without, each with how a new one is made. */
const makers = {
  // Part of DATABASE_URL: without characters that a URL would need escaped.
  POSTGRES_PASSWORD: () => randomBytes(24).toString('base64url'),
  INTERNAL_API_SECRET: () => randomBytes(32).toString('base64url'),
  SECRETS_ENCRYPTION_KEYS: () => `compose:${randomBytes(32).toString('base64')}`,
} as const;

const heading = `# Secrets of this installation, made by \`make up\`. Keep them as long as the volumes of the containers: the database
# was created with this password, and the webhooks' secrets in it can be read with these keys only.
`;

/**
 * Adds to the file those secrets that neither it nor the environment has, and keeps whatever else is in it. The file is
 * for its owner's eyes only from then on.
 *
 * @returns the names that were added
 */
export function completeEnvFile(file: string, environment: Environment): string[] {
  const present = readIfThere(file);
  const names = Object.keys(makers) as (keyof typeof makers)[];
  const missing = names.filter((name) => !environment[name] && !isSetIn(present, name));
  if (missing.length === 0) {
    if (present !== '') chmodSync(file, 0o600);
    return [];
  }
  const before = present === '' || present.endsWith('\n') ? present : `${present}\n`;
  // Quoted: Compose takes what is in single quotes as it is.
  const lines = missing.map((name) => `${name}='${makers[name]()}'\n`);
  writeWhole(file, `${before}${heading}${lines.join('')}`);
  return missing;
}

/** A name without a value counts as missing, as it does for Compose's `:?`. The last line of a name wins there, too. */
function isSetIn(text: string, name: string): boolean {
  const values = [...text.matchAll(new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=(.*)$`, 'gm'))];
  return (
    (values
      .at(-1)?.[1]
      ?.trim()
      .replace(/^(['"])\1/, '') ?? '') !== ''
  );
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function writeWhole(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}
