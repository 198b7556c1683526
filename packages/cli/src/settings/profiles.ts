import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from '../failure.ts';
import type { Environment } from '../io.ts';

/** What `login` stored under one name. Each secret goes to the address that it was stored with, and to no other. */
export interface Profile {
  api_url?: string;
  api_key?: string;
  internal_url?: string;
  internal_secret?: string;
}

const fieldNames = ['api_url', 'api_key', 'internal_url', 'internal_secret'] as const satisfies (keyof Profile)[];

export interface Profiles {
  /** Where the profiles are stored. */
  readonly file: string;
  /** Undefined when nothing is stored under the name. */
  read(name: string): Profile | undefined;
  /** Stores the profile; undefined removes it. */
  write(name: string, profile: Profile | undefined): void;
}

/** The profiles of this user, in a file that only this user can read. */
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

/** The folder for settings by the XDG base directory specification, which ignores relative paths. */
function configFolder(env: Environment): string {
  const { XDG_CONFIG_HOME: given = '', HOME: home } = env;
  return given.startsWith('/') ? given : join(home || homedir(), '.config');
}

function readAll(file: string): Map<string, Profile> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
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

/** Text fields that this version knows; anything else is no part of a profile. */
function knownFields(profile: Profile): Profile {
  const fields = fieldNames.filter((name) => typeof profile[name] === 'string');
  return Object.fromEntries(fields.map((name) => [name, profile[name]]));
}

/** The file is complete or not there, and never readable for others: it is made with its mode, then takes its place. */
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
