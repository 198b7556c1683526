import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { wholeNumber } from '../input/values.ts';

export interface PagingOptions {
  limit: number;
  all?: boolean;
}

/** Options of every list: how many items to print. */
export function withPaging(command: Command): Command {
  return command
    .option('--limit <n>', 'the maximum number to print', wholeNumber(1, 1_000_000), 20)
    .option('--all', 'print the whole list');
}

/** The page size to request. */
export const pageSize = ({ limit, all }: PagingOptions) => (all ? 100 : Math.min(100, limit));

/** Reads as many items as the options allow, and prints a note if there are more. */
export async function collect<Item>(
  { printer, io }: Context,
  items: AsyncIterable<Item>,
  { limit, all }: PagingOptions,
): Promise<Item[]> {
  const collected: Item[] = [];
  const progress = printer.progress('Reading');
  let hasMore = false;
  try {
    for await (const item of items) {
      io.signal.throwIfAborted();
      hasMore = all !== true && collected.length === limit;
      if (hasMore) break;
      collected.push(item);
      if (collected.length % 100 === 0) progress.update(collected.length);
    }
  } finally {
    progress.end();
  }
  if (hasMore) printer.note(`These are the first ${limit}. For more: --limit <n>, or --all.`, 'dim');
  return collected;
}
