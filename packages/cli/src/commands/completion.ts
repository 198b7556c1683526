import { Argument } from 'commander';
import { readCommandTree } from '../completion/command-tree.ts';
import { completionScript, type Shell, shells } from '../completion/scripts.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';

export const addCompletionCommand: CommandModule = (program, open) => {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText(
      'after',
      '\nFor this session:\n  source <(enterprise-api completion bash)\n  enterprise-api completion fish | source',
    )
    .action(
      action(open, ({ printer }, _options, shell) =>
        printer.raw(completionScript(shell as Shell, readCommandTree(program))),
      ),
    );
};
