import { ApiError, EnterpriseApi } from '@enterprise-api/sdk';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { askSecret } from '../input/ask.ts';
import { openInternalApi } from '../internal/client.ts';
import { oneLine } from '../output/text.ts';
import type { Profile } from '../settings/profiles.ts';
import { type GlobalOptions, givenUrl, profileName } from '../settings/settings.ts';
import { userAgent } from '../version.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';

interface LoginOptions extends GlobalOptions {
  internal?: boolean;
}

export const addLoginCommands: CommandModule = (program, open) => {
  program
    .command('login')
    .description('ask for an API key, check it, and store it with its address')
    .option('--internal', 'ask for the secret of the internal listener instead (with --internal-url)')
    .addHelpText(
      'after',
      '\nWithout a terminal the key is the first line of standard input:\n  enterprise-api login --api-url https://api.example.com < key.txt',
    )
    .action(
      action<LoginOptions>(open, (context, { internal }) => (internal ? loginInternal(context) : login(context))),
    );
  program
    .command('logout')
    .description('remove the addresses and secrets of the profile from this machine')
    .action(action(open, logout));
};

async function login(context: Context): Promise<void> {
  const { io, options, profiles, printer } = context;
  const name = profileName(options, io.env);
  const url = givenUrl('api', options, io.env) ?? profiles.read(name)?.api_url;
  if (url === undefined) throw noAddress('--api-url', 'ENTERPRISE_API_URL');
  warnOfPlainText(context, url);
  const apiKey = await askFor(context, `API key for ${url} (it is not shown): `);
  const who = await identify(url, apiKey, io.signal);
  store(context, name, { api_url: url, api_key: apiKey });
  printer.text(oneLine(who), `Stored as profile "${oneLine(name)}" in ${oneLine(profiles.file)}.`);
  if (io.env.ENTERPRISE_API_KEY) printer.note('ENTERPRISE_API_KEY is set and overrides the stored key.');
}

async function loginInternal(context: Context): Promise<void> {
  const { io, options, profiles, printer } = context;
  const name = profileName(options, io.env);
  const url = givenUrl('internal', options, io.env) ?? profiles.read(name)?.internal_url;
  if (url === undefined) throw noAddress('--internal-url', 'ENTERPRISE_API_INTERNAL_URL');
  warnOfPlainText(context, url);
  const secret = await askFor(context, `Internal secret for ${url} (it is not shown): `);
  const mayListOrganizations = await isAccepted(() =>
    openInternalApi({ url, secret }, { signal: io.signal }).get('/internal/v1/organizations', { limit: '1' }),
  );
  store(context, name, { internal_url: url, internal_secret: secret });
  printer.text(
    mayListOrganizations
      ? 'The internal listener accepts the secret.'
      : 'The internal listener accepts the secret only for some operations, such as emitting events.',
    `Stored as profile "${oneLine(name)}" in ${oneLine(profiles.file)}.`,
  );
}

function logout({ io, options, profiles, printer }: Context): void {
  const name = profileName(options, io.env);
  if (profiles.read(name) === undefined)
    throw new Failure('notFound', `There is no profile "${name}" in ${profiles.file}.`);
  profiles.write(name, undefined);
  printer.text(`Removed profile "${oneLine(name)}". The key itself still works until it is revoked.`);
}

function store({ profiles }: Context, name: string, fields: Profile): void {
  profiles.write(name, { ...profiles.read(name), ...fields });
}

const noAddress = (flag: string, variable: string) =>
  new Failure('usage', 'The address is missing.', `Give ${flag}, or set ${variable}.`);

async function askFor({ io }: Context, question: string): Promise<string> {
  const secret = await askSecret(io, question);
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  throw new Failure(
    'usage',
    secret === '' ? 'Nothing was entered.' : 'The secret contains characters that secrets cannot have.',
  );
}

/** @returns a sentence that names the key's owner */
async function identify(baseUrl: string, apiKey: string, signal: AbortSignal): Promise<string> {
  let found: string | undefined;
  const isComplete = await isAccepted(async () => {
    const { organization, key } = await new EnterpriseApi({ baseUrl, apiKey, userAgent }).me.get({ signal });
    found = `Logged in to ${baseUrl} for ${organization.name} (plan ${organization.plan}) with the key "${key.name}".`;
  });
  return isComplete && found !== undefined
    ? found
    : `Logged in to ${baseUrl}. The key lacks the scope me:read, so its name is not known.`;
}

/** @returns false if the secret is valid but lacks this permission */
async function isAccepted(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'forbidden_scope') return false;
    throw error;
  }
}

function warnOfPlainText({ printer }: Context, url: string): void {
  const { protocol, hostname } = new URL(url);
  const isLocal =
    hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || hostname.startsWith('127.');
  if (protocol === 'http:' && !isLocal)
    printer.note('The address begins with http://, so others on the network can read the secret.');
}
