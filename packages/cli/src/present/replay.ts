import type { Replay } from '@enterprise-api/sdk';
import type { Printer } from '../output/printer.ts';
import { count } from './format.ts';

/** Says how many deliveries are sent again, and whether there are more. */
export function showReplay(printer: Printer, replay: Replay): void {
  printer.object(replay, [['deliveries', `${count(replay.matched)} are sent again`]]);
  if (replay.has_more) printer.note('More deliveries match than one replay takes. Run it again for the others.');
}
