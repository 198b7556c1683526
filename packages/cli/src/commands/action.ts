import type { Command } from 'commander';
import type { Context } from '../context.ts';
import type { GlobalOptions } from '../settings/settings.ts';

/** A commander action. Its work gets a context, the options of all levels, and the operands. */
export function action<Options extends object>(
  open: (options: GlobalOptions) => Context,
  work: (context: Context, options: Options & GlobalOptions, ...operands: string[]) => void | Promise<void>,
) {
  return async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const options = command.optsWithGlobals<Options & GlobalOptions>();
    await work(open(options), options, ...command.args);
  };
}
