import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Environment } from '@enterprise-api/shared/runtime';

/** The secrets in docker-compose.yml, each with the function that makes one. */
const makers = {
  // Passwords are parts of URLs: base64url needs no escaping there.
  POSTGRES_PASSWORD: makePassword,
  POSTGRES_ADMIN_PASSWORD: makePassword,
  REDIS_PASSWORD: makePassword,
  INTERNAL_API_SECRET: () => randomBytes(32).toString('base64url'),
  SECRETS_ENCRYPTION_KEYS: makeKey,
  IDENTITY_SIGNING_KEYS: makeKey,
} as const;

const heading = `# Secrets of this installation, made by \`make up\`. Keep them as long as the volumes of the containers: the database
# was created with its passwords, and only these keys decrypt the webhooks' secrets in it.
`;

/**
 * Adds the secrets that are neither in the file nor in the environment, and keeps everything else in the file. From then
 * on only its owner can read it.
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
  // Compose does not interpolate text in single quotes.
  const lines = missing.map((name) => `${name}='${makers[name]()}'\n`);
  writeWhole(file, `${before}${heading}${lines.join('')}`);
  return missing;
}

function makePassword(): string {
  return randomBytes(24).toString('base64url');
}

function makeKey(): string {
  return `compose:${randomBytes(32).toString('base64')}`;
}

/** As Compose reads the file: a name without a value is missing, and the last line of a name counts. */
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
