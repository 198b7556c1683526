import { instant } from '../input/values.ts';
import { internalApiOf } from '../internal/client.ts';
import type { AuditEntry } from '../internal/types.ts';
import { auditColumns } from '../present/internal.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';
import { collect, type PagingOptions, pageSize, withPaging } from './paging.ts';

interface AuditOptions extends PagingOptions {
  org?: string;
  object?: string;
  action?: string;
  since?: string;
  until?: string;
}

export const addAuditCommand: CommandModule = (program, open) => {
  withPaging(program.command('audit').description('list changes and who made them, newest first (internal)'))
    .option('--org <id>', 'only of this organization')
    .option('--object <id>', 'only about this organization, key, webhook or delivery')
    .option('--action <action>', 'such as api_key.created')
    .option('--since <time>', 'at or after this time; or how long ago, such as 2h', instant())
    .option('--until <time>', 'before this time', instant())
    .action(
      action<AuditOptions>(open, async (context, options) => {
        const { org, object, action: done, since, until } = options;
        const query = {
          limit: pageSize(options),
          ...(org !== undefined && { organization_id: org }),
          ...(object !== undefined && { object_id: object }),
          ...(done !== undefined && { action: done }),
          ...(since !== undefined && { since }),
          ...(until !== undefined && { until }),
        };
        const list = internalApiOf(context).list<AuditEntry>('/internal/v1/audit', query);
        context.printer.list(await collect(context, list, options), auditColumns, 'There is no such entry.');
      }),
    );
};
