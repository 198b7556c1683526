import { openApi } from '../clients.ts';
import { time } from '../present/format.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';

export const addConsoleCommand: CommandModule = (program, open) => {
  program
    .command('console')
    .description('make a link to the console, with the rights of your key')
    .option('--read-only', 'the console changes nothing')
    .option('--label <text>', 'who will use the link, for the audit log')
    .action(
      action(open, async (context, { readOnly, label }: { readOnly?: true; label?: string }) => {
        const api = openApi(context);
        const { signal } = context.io;
        const scopes = readOnly ? undefined : (await api.me.get({ signal })).scopes;
        const session = await api.consoleSessions.create(
          { ...(scopes && { scopes }), ...(label !== undefined && { label }) },
          { signal },
        );
        context.printer.object(session, [
          ['link', session.url],
          ['works once, until', time(session.link_expires_at)],
          ['session ends', time(session.expires_at)],
        ]);
      }),
    );
};
