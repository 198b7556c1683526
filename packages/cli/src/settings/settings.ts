import { readFileSync } from 'node:fs';
import { Failure } from '../failure.ts';
import type { Environment } from '../io.ts';
import type { Profile, Profiles } from './profiles.ts';

/** The options that every command has. */
export interface GlobalOptions {
  json?: boolean;
  profile?: string;
  apiUrl?: string;
  internalUrl?: string;
  actor?: string;
}

/** An address, and the secret for it. */
export interface Access {
  url: string;
  secret: string;
}

/** The sources of an address and its secret. */
interface Kind {
  urlOption: 'apiUrl' | 'internalUrl';
  urlFlag: string;
  urlVariable: string;
  secretVariable: string;
  urlField: 'api_url' | 'internal_url';
  secretField: 'api_key' | 'internal_secret';
  /** The secret's name in messages. */
  secret: string;
  login: string;
}

const kinds = {
  api: {
    urlOption: 'apiUrl',
    urlFlag: '--api-url',
    urlVariable: 'ENTERPRISE_API_URL',
    secretVariable: 'ENTERPRISE_API_KEY',
    urlField: 'api_url',
    secretField: 'api_key',
    secret: 'API key',
    login: 'enterprise-api login --api-url https://…',
  },
  internal: {
    urlOption: 'internalUrl',
    urlFlag: '--internal-url',
    urlVariable: 'ENTERPRISE_API_INTERNAL_URL',
    secretVariable: 'ENTERPRISE_API_INTERNAL_SECRET',
    urlField: 'internal_url',
    secretField: 'internal_secret',
    secret: 'internal secret',
    login: 'enterprise-api login --internal --internal-url http://…',
  },
} as const satisfies Record<string, Kind>;

export type AccessKind = keyof typeof kinds;

export function profileName(options: GlobalOptions, env: Environment): string {
  return options.profile ?? env.ENTERPRISE_API_PROFILE ?? 'default';
}

/**
 * Finds the address and secret for a command. An option precedes the environment, and the environment precedes the
 * profile. Sends a stored secret only to the address stored with it.
 *
 * @throws {Failure} that names the missing value and the ways to provide it
 */
export function resolveAccess(kind: AccessKind, options: GlobalOptions, env: Environment, profiles: Profiles): Access {
  const { urlVariable, urlFlag, secretVariable, urlField, secretField, secret: what, login }: Kind = kinds[kind];
  const given = givenUrl(kind, options, env);
  const isNamed = (options.profile ?? env.ENTERPRISE_API_PROFILE) !== undefined;
  const container = kind === 'internal' && given === undefined && !isNamed ? containerAccess(env) : undefined;
  if (container !== undefined && !env[secretVariable]) return container;
  const profile: Profile = profiles.read(profileName(options, env)) ?? {};
  const stored = profile[urlField];
  const url = given ?? stored;
  const secret = env[secretVariable] || undefined;
  if (secret !== undefined) {
    if (url !== undefined) return { url, secret };
    throw new Failure('usage', `${secretVariable} is set, but no address.`, `Set ${urlVariable}, or give ${urlFlag}.`);
  }
  const storedSecret = profile[secretField];
  if (storedSecret === undefined || stored === undefined) {
    throw new Failure(
      'authentication',
      `There is no ${what} in profile "${profileName(options, env)}".`,
      `Log in with "${login}", or set ${secretVariable} and ${urlVariable}.`,
    );
  }
  if (given !== undefined && given !== stored) {
    throw new Failure(
      'usage',
      `The stored ${what} is for ${stored}, not for ${given}.`,
      `Log in there with another --profile, or set ${secretVariable}.`,
    );
  }
  return { url: stored, secret: storedSecret };
}

/** In a container of the API, its own settings name the internal listener and the secret. */
function containerAccess(env: Environment): Access | undefined {
  const file = env.INTERNAL_API_SECRET_FILE;
  const secrets = env.INTERNAL_API_SECRET || (file ? readSecretFile(file) : '');
  const secret = secrets
    .split(',')
    .map((each) => each.trim())
    .find((each) => each !== '');
  if (secret === undefined) return undefined;
  const { INTERNAL_HOST: host = '' } = env;
  const isAny = ['', '0.0.0.0', '::'].includes(host);
  const name = isAny ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${env.INTERNAL_PORT || '3001'}`, secret };
}

function readSecretFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Failure('usage', `INTERNAL_API_SECRET_FILE cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** Returns the canonical form of an address from an option or the environment. */
export function givenUrl(kind: AccessKind, options: GlobalOptions, env: Environment): string | undefined {
  const { urlOption, urlFlag, urlVariable }: Kind = kinds[kind];
  const option = options[urlOption];
  const variable = env[urlVariable] || undefined;
  if (option !== undefined) return parseUrl(option, urlFlag);
  return variable === undefined ? undefined : parseUrl(variable, urlVariable);
}

/** `https://api.example.com/` → `https://api.example.com`, so that paths such as `/v1/me` can be appended. */
function parseUrl(text: string, name: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (isPlain && url.search === '' && url.hash === '') return url.href.replace(/\/+$/, '');
  throw new Failure('usage', `${name} is not the address of an API.`, 'It looks like https://api.example.com.');
}
