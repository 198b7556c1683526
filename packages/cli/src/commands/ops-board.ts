import { once } from 'node:events';
import type { Command } from 'commander';
import { serveBoard } from '../board/serve-board.ts';
import type { Context } from '../context.ts';
import { internalApiOf } from '../internal/client.ts';
import type { QueueJobs } from '../internal/types.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';

export function addBoardCommand(ops: Command, open: (options: GlobalOptions) => Context): void {
  ops
    .command('board')
    .description('serve the read-only queue board on this machine until Ctrl-C')
    .addHelpText(
      'after',
      '\nThe API must be started with INTERNAL_QUEUE_BOARD=true. The page is on 127.0.0.1, at an address that only you see.',
    )
    .action(
      action(open, async (context) => {
        const { printer, io } = context;
        const api = internalApiOf(context);
        // Checks now that the API offers the board and accepts the secret. Otherwise the error would appear in the
        // browser.
        await api.get<QueueJobs>('/internal/v1/queue-jobs', { queue: 'events', state: 'failed' });
        const board = await serveBoard(api);
        printer.record({ object: 'board', url: board.url }, () => board.url);
        printer.note('Ctrl-C ends it.', 'dim');
        if (!io.signal.aborted) await once(io.signal, 'abort');
        await board.close();
      }),
    );
}
