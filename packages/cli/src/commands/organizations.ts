import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { askText } from '../input/ask.ts';
import { durationMs } from '../input/values.ts';
import { internalApiOf } from '../internal/client.ts';
import type { Organization } from '../internal/types.ts';
import { organizationColumns, organizationFields } from '../present/internal.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';
import { collect, type PagingOptions, pageSize, withPaging } from './paging.ts';

type Open = (options: GlobalOptions) => Context;

const path = '/internal/v1/organizations';
const plans = ['starter', 'pro', 'business', 'enterprise'];

export const addOrganizationCommands: CommandModule = (program, open) => {
  const organizations = program.command('orgs').description('organizations and their plans (internal)');
  addReading(organizations, open);
  addChanging(organizations, open);
  addClosing(organizations, open);
};

interface ListOptions extends PagingOptions {
  externalId?: string;
}

function addReading(organizations: Command, open: Open): void {
  withPaging(organizations.command('list').description('list organizations, newest first'))
    .option('--external-id <id>', 'only the organization with this external id')
    .action(
      action<ListOptions>(open, async (context, options) => {
        const query = {
          limit: pageSize(options),
          ...(options.externalId !== undefined && { external_id: options.externalId }),
        };
        const list = internalApiOf(context).list<Organization>(path, query);
        context.printer.list(
          await collect(context, list, options),
          organizationColumns,
          'There is no such organization.',
        );
      }),
    );
  organizations
    .command('show')
    .description('show one organization')
    .argument('<id>', 'org_…')
    .action(
      action(open, async (context, _options, id) => {
        const organization = await internalApiOf(context).get<Organization>(`${path}/${encodeURIComponent(id)}`);
        context.printer.object(organization, organizationFields(organization));
      }),
    );
}

interface ChangeOptions {
  name?: string;
  plan?: string;
  externalId?: string;
  operator?: boolean;
  bodyRetention?: number | '';
}

function addChanging(organizations: Command, open: Open): void {
  const planOption = () => new Option('--plan <plan>', 'its access to the API and its rate limit').choices(plans);
  organizations
    .command('create')
    .description('create an organization')
    .argument('<name>', 'its name')
    .addOption(planOption().makeOptionMandatory())
    .option('--external-id <id>', 'your own id of it')
    .option('--actor <name>', 'the person who asked for this, for the audit log')
    .action(
      action<ChangeOptions>(open, async (context, options, name) => {
        const organization = await internalApiOf(context).post<Organization>(path, fieldsOf({ ...options, name }));
        context.printer.object(organization, organizationFields(organization));
      }),
    );
  organizations
    .command('update')
    .description('change an organization')
    .argument('<id>', 'org_…')
    .option('--name <name>', 'its name')
    .addOption(planOption())
    .option('--external-id <id>', 'your own id for it; an empty text removes it')
    .option(
      '--body-retention <duration>',
      'how long its event data is kept, such as 0s or 7d; an empty text: as usual',
      retention,
    )
    .option('--operator', "copy every other organization's operational events to it")
    .option('--no-operator', 'end these copies')
    .option('--actor <name>', 'the person who asked for this, for the audit log')
    .action(
      action<ChangeOptions>(open, async (context, options, id) => {
        const fields = fieldsOf(options);
        if (Object.keys(fields).length === 0) throw nothingToChange;
        const organization = await internalApiOf(context).patch<Organization>(
          `${path}/${encodeURIComponent(id)}`,
          fields,
        );
        context.printer.object(organization, organizationFields(organization));
      }),
    );
}

function addClosing(organizations: Command, open: Open): void {
  organizations
    .command('close')
    .description('close an organization for good, and erase its data; asks for its name')
    .argument('<id>', 'org_…')
    .option('--erase-after <duration>', 'how long its data is kept, such as 0s or 30d (default: 0s)', durationMs)
    .option('--actor <name>', 'the person who asked for this, for the audit log')
    .action(
      action<{ eraseAfter?: number }>(open, async (context, { eraseAfter }, id) => {
        const api = internalApiOf(context);
        const organizationPath = `${path}/${encodeURIComponent(id)}`;
        const { name } = await api.get<Organization>(organizationPath);
        if (name !== null && (await askText(context.io, `Type the organization's name to close it: `)) !== name)
          throw new Failure('usage', "That is not the organization's name.", 'Nothing was closed.');
        const closed = await api.post<Organization>(`${organizationPath}/close`, {
          confirm: id,
          ...(eraseAfter !== undefined && { erase_after: inSeconds(eraseAfter) }),
        });
        context.printer.object(closed, organizationFields(closed));
      }),
    );
}

const retention = (value: string) => (value === '' ? value : durationMs(value));
const inSeconds = (ms: number) => Math.round(ms / 1_000);

const nothingToChange = new Failure('usage', 'Nothing to change.', 'Give what to change, such as --name or --plan.');

function fieldsOf({ name, plan, externalId, operator, bodyRetention: kept }: ChangeOptions): object {
  return {
    ...(name !== undefined && { name }),
    ...(plan !== undefined && { plan }),
    ...(externalId !== undefined && { external_id: externalId === '' ? null : externalId }),
    ...(operator !== undefined && { operator }),
    ...(kept !== undefined && { body_retention_seconds: kept === '' ? null : inSeconds(kept) }),
  };
}
