import type { McpOptions } from '../mcp/serve.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';

export const addMcpCommand: CommandModule = (program, open) => {
  program
    .command('mcp')
    .description('serve the Model Context Protocol on standard input and output, for a coding agent; only reads')
    .option('--allow-write', 'also offer tools that change webhooks and send deliveries again')
    .option('--show-bodies', "show what producers and receivers sent: bodies, events' data, queries of URLs")
    .action(
      action<McpOptions>(open, async (context, options) => {
        // Other commands need not load the protocol.
        const { serveMcp } = await import('../mcp/serve.ts');
        await serveMcp(context, options);
      }),
    );
};
