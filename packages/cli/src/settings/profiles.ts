import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from '../failure.ts';
import type { Environment } from '../io.ts';

/** The values that `login` stored under a name. The command line sends each secret only to the address stored with it. */
export interface Profile {
  api_url?: string;
  api_key?: string;
  internal_url?: string;
  internal_secret?: string;
}

const fieldNames = ['api_url', 'api_key', 'internal_url', 'internal_secret'] as const satisfies (keyof Profile)[];

export interface Profiles {
  /** Path of the file with the profiles. */
  readonly file: string;
  /** Returns undefined for an unknown name. */
  read(name: string): Profile | undefined;
  /** Stores a profile; undefined deletes it. */
  write(name: string, profile: Profile | undefined): void;
}

/** This user's profiles, in a file that no other user can read. */
export function openProfiles(env: Environment): Profiles {
  const file = join(configFolder(env), 'enterprise-api', 'profiles.json');
  return {
    file,
    read: (name) => readAll(file).get(name),
    write: (name, profile) => {
      const profiles = readAll(file);
      if (profile === undefined) profiles.delete(name);
      else profiles.set(name, profile);
      writeAll(file, profiles);
    },
  };
}

/** The settings folder of the XDG base directory specification, which ignores relative paths. */
function configFolder(env: Environment): string {
  const { XDG_CONFIG_HOME: given = '', HOME: home } = env;
  return given.startsWith('/') ? given : join(home || homedir(), '.config');
}

function readAll(file: string): Map<string, Profile> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return new Map();
    throw new Failure(
      'usage',
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`,
      'Make it readable for yourself alone: chmod 600.',
    );
  }
  try {
    const { profiles } = JSON.parse(text) as { profiles: Record<string, Profile> };
    return new Map(Object.entries(profiles).map(([name, profile]) => [name, knownFields(profile)]));
  } catch {
    throw new Failure('usage', `${file} does not hold profiles.`, 'Remove the file and log in again.');
  }
}

/** Keeps only the known text fields of a profile. */
function knownFields(profile: Profile): Profile {
  const fields = fieldNames.filter((name) => typeof profile[name] === 'string');
  return Object.fromEntries(fields.map((name) => [name, profile[name]]));
}

/** Writes a temporary file with the right mode and renames it. So the file is never incomplete or readable by others. */
function writeAll(file: string, profiles: ReadonlyMap<string, Profile>): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
  const text = `${JSON.stringify({ profiles: Object.fromEntries(profiles) }, null, 2)}\n`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new Failure(
      'usage',
      `${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`,
      'XDG_CONFIG_HOME names another folder for it.',
    );
  }
}
