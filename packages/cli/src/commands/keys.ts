import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { confirm } from '../input/ask.ts';
import { instant, instantAhead, listOf } from '../input/values.ts';
import { internalApiOf } from '../internal/client.ts';
import type { ApiKey, CreatedApiKey } from '../internal/types.ts';
import { keyColumns, keyFields } from '../present/internal.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';
import { collect, type PagingOptions, pageSize, withPaging } from './paging.ts';

type Open = (options: GlobalOptions) => Context;

const keysOf = (organization: string) => `/internal/v1/organizations/${encodeURIComponent(organization)}/keys`;
const keyOf = (organization: string, key: string) => `${keysOf(organization)}/${encodeURIComponent(key)}`;

export const addKeyCommands: CommandModule = (program, open) => {
  const keys = program.command('keys').description('API keys of an organization (internal)');
  addReading(keys, open);
  addChanging(keys, open);
  addRevoking(keys, open);
};

interface ListOptions extends PagingOptions {
  expiresBefore?: string;
  unusedSince?: string;
}

function addReading(keys: Command, open: Open): void {
  withPaging(keys.command('list').description('list the keys of an organization, newest first'))
    .argument('<organization>', 'org_…')
    .option('--expires-before <time>', 'that expire before this time; or from now, such as 7d', instantAhead())
    .option('--unused-since <time>', 'not used since this time; or how long ago, such as 90d', instant())
    .action(
      action<ListOptions>(open, async (context, options, organization) => {
        const { expiresBefore, unusedSince } = options;
        const list = internalApiOf(context).list<ApiKey>(keysOf(organization), {
          limit: pageSize(options),
          ...(expiresBefore !== undefined && { expires_before: expiresBefore }),
          ...(unusedSince !== undefined && { unused_since: unusedSince }),
        });
        context.printer.list(await collect(context, list, options), keyColumns, 'There is no such key.');
      }),
    );
  keys
    .command('show')
    .description('show one key, without its secret')
    .argument('<organization>', 'org_…')
    .argument('<id>', 'key_…')
    .action(
      action(open, async (context, _options, organization, id = '') => {
        const key = await internalApiOf(context).get<ApiKey>(keyOf(organization, id));
        context.printer.object(key, keyFields(key));
      }),
    );
}

interface KeyOptions {
  name?: string;
  scopes?: string[];
  allow?: string[];
  allowAll?: boolean;
  allowlistMode?: string;
  expires?: string;
  neverExpires?: boolean;
}

function addChanging(keys: Command, open: Open): void {
  withFields(keys.command('create').description('create a key and print it once'))
    .argument('<organization>', 'org_…')
    .requiredOption('--name <name>', 'a name for people')
    .requiredOption('--scopes <scopes>', 'the scopes, such as webhooks:read or *; a comma-separated list', listOf)
    .action(
      action<KeyOptions>(open, async (context, options, organization) => {
        const key = await internalApiOf(context).post<CreatedApiKey>(keysOf(organization), fieldsOf(options));
        context.printer.object(key, [...keyFields(key), ['key', key.secret]]);
        context.printer.note('Keep the key now: it cannot be read again.');
      }),
    );
  withFields(keys.command('update').description('change a key; takes effect everywhere within a second'))
    .argument('<organization>', 'org_…')
    .argument('<id>', 'key_…')
    .option('--name <name>', 'a name for people')
    .option('--scopes <scopes>', 'the scopes; a comma-separated list', listOf)
    .addOption(new Option('--allow-all', 'allow all addresses').conflicts('allow'))
    .addOption(new Option('--never-expires', 'remove the expiry').conflicts('expires'))
    .action(
      action<KeyOptions>(open, async (context, options, organization, id = '') => {
        const fields = fieldsOf(options);
        if (Object.keys(fields).length === 0)
          throw new Failure(
            'usage',
            'Nothing to change.',
            'Give --name, --scopes, --allow, --allowlist-mode or --expires.',
          );
        const key = await internalApiOf(context).patch<ApiKey>(keyOf(organization, id), fields);
        context.printer.object(key, keyFields(key));
      }),
    );
}

function addRevoking(keys: Command, open: Open): void {
  keys
    .command('revoke')
    .description('revoke a key; takes effect everywhere within a second')
    .argument('<organization>', 'org_…')
    .argument('<id>', 'key_…')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--actor <name>', 'the person who asked for this, for the audit log')
    .action(
      action<{ yes?: boolean }>(open, async (context, { yes }, organization, id = '') => {
        const { io, printer } = context;
        if (!yes && !io.stdin.isTTY) throw new Failure('usage', 'Revoking needs a confirmation.', 'Add --yes.');
        if (!yes && !(await confirm(io, `Revoke ${id}? It cannot be undone.`)))
          throw new Failure('usage', 'Nothing was revoked.');
        await internalApiOf(context).delete(keyOf(organization, id));
        if (printer.isJson) printer.record({ id, object: 'api_key', deleted: true }, () => '');
        printer.text(`Revoked ${id}.`);
      }),
    );
}

function withFields(command: Command): Command {
  return command
    .option('--allow <addresses>', 'addresses and CIDRs from which the key may be used; a comma-separated list', listOf)
    .addOption(
      new Option('--allowlist-mode <mode>', 'refuse requests from other addresses, or serve and count them').choices([
        'enforce',
        'report',
      ]),
    )
    .option('--expires <time>', 'when it stops working', instant())
    .option('--actor <name>', 'the person who asked for this, for the audit log');
}

function fieldsOf({ name, scopes, allow, allowAll, allowlistMode, expires, neverExpires }: KeyOptions): object {
  return {
    ...(name !== undefined && { name }),
    ...(scopes !== undefined && { scopes }),
    ...(allow !== undefined && { ip_allowlist: allow }),
    ...(allowAll && { ip_allowlist: null }),
    ...(allowlistMode !== undefined && { ip_allowlist_mode: allowlistMode }),
    ...(expires !== undefined && { expires_at: expires }),
    ...(neverExpires && { expires_at: null }),
  };
}
