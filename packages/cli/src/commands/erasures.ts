import { openApi } from '../clients.ts';
import { erasureColumns } from '../present/erasures.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';
import { collect, type PagingOptions, pageSize, withPaging } from './paging.ts';

export const addErasuresCommand: CommandModule = (program, open) => {
  withPaging(program.command('erasures').description('list receipts of erasures, newest first')).action(
    action<PagingOptions>(open, async (context, options) => {
      const list = openApi(context).erasures.list({ limit: pageSize(options) });
      context.printer.list(await collect(context, list, options), erasureColumns, 'There is no erasure.');
    }),
  );
};
