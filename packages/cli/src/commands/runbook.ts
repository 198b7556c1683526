import { Failure } from '../failure.ts';
import { introduction, runbooks } from '../generated/runbooks.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';

export const addRunbookCommand: CommandModule = (program, open) => {
  program
    .command('runbook')
    .description('print the runbook of an alert; needs no API')
    .argument('[alert]', 'such as ApiDown; without it, how to begin, and all alerts')
    .action(
      action(open, ({ printer }, _options, alert) => {
        const names = Object.keys(runbooks);
        if (alert === undefined)
          return printer.record({ object: 'runbooks', alerts: names }, () => [introduction, '', ...names].join('\n'));
        const name = names.find((each) => each.toLowerCase() === alert.toLowerCase());
        const text = name === undefined ? undefined : runbooks[name];
        if (text === undefined) {
          throw new Failure('notFound', `There is no runbook "${alert}".`, 'List them: enterprise-api runbook');
        }
        printer.record({ object: 'runbook', alert: name, text }, () => text);
      }),
    );
};
