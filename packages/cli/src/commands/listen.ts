import { openApi } from '../clients.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { listOf } from '../input/values.ts';
import { listen } from '../listen/listen.ts';
import { createSigner } from '../listen/own-signature.ts';
import { oneLine } from '../output/text.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';

interface ListenOptions {
  forwardTo: string;
  events?: string[];
  after?: string;
}

export const addListenCommand: CommandModule = (program, open) => {
  program
    .command('listen')
    .description('forward events to a program on this machine, as deliveries to a webhook; needs no public address')
    .requiredOption('--forward-to <url>', 'the address of the program, such as http://localhost:4000/hooks')
    .option(
      '-e, --events <types>',
      'types, such as batch.failed or consultation.*; a comma-separated list (default: all)',
      listOf,
    )
    .option('--after <id>', 'begin after this event (evt_…) instead of now')
    .addHelpText(
      'after',
      '\nThe command prints the signing secret of each connection. To choose a secret that stays the same, set\nENTERPRISE_API_LISTEN_SECRET (whsec_…): the command then signs with it, and prints none.',
    )
    .action(
      action<ListenOptions>(open, async (context, { forwardTo, events = [], after }) => {
        const target = parseTarget(forwardTo);
        if (context.io.env.ENTERPRISE_API_LISTEN_SECRET)
          context.printer.note('Signing with ENTERPRISE_API_LISTEN_SECRET.', 'dim');
        context.printer.note(`Forwarding to ${oneLine(target)}. Ctrl-C ends it.`, 'dim');
        await followAndListen(context, { target, events, after });
      }),
    );
};

/** Follows the stream until the command is interrupted. Without a target, only prints the events. */
export async function followAndListen(
  context: Context,
  { target, events, after }: { target?: string; events: readonly string[]; after: string | undefined },
): Promise<void> {
  const { io, printer } = context;
  const own = io.env.ENTERPRISE_API_LISTEN_SECRET || undefined;
  const sign = own === undefined ? undefined : createSigner(own);
  await listen(openApi(context), { events, after, target, sign, printer, signal: io.signal });
}

function parseTarget(text: string): string {
  // A URL parser would take `localhost` in `localhost:4000` for the scheme.
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  const isHttp = url !== null && /^https?:$/.test(url.protocol);
  if (isHttp && url.username === '' && url.password === '' && url.hash === '') return url.href;
  throw new Failure('usage', '--forward-to is not a URL.', 'It looks like http://localhost:4000/hooks.');
}
