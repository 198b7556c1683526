/** One page of a list. */
export interface Page<Item> {
  object: 'list';
  data: Item[];
  has_more: boolean;
  /** Cursor of the next page; null on the last page. */
  next_cursor: string | null;
  /** Only for a search (`q`, `last_status_code`, `last_error`): how far it looked; null for the whole list. */
  searched_until?: string | null;
}

/** A paged list. `for await` iterates over all items; `page` reads one page. */
export interface List<Item> extends AsyncIterable<Item> {
  /** Returns the first page, or the page of a cursor. */
  page(cursor?: string): Promise<Page<Item>>;
  /**
   * Reads items into an array, as many pages as needed.
   *
   * @param options.max the largest number of items to read
   * @throws TypeError if `max` is not a whole number from 1 on
   */
  toArray(options: { max: number }): Promise<Item[]>;
}

/**
 * Creates a list from any path with the API's paging, such as one of an area: `createList((cursor) => …)`.
 *
 * @param read reads the page of a cursor, or the first page without one
 */
export function createList<Item>(read: (cursor: string | undefined) => Promise<Page<Item>>): List<Item> {
  return {
    page: (cursor) => read(cursor),
    async toArray({ max }) {
      if (!Number.isInteger(max) || max < 1) throw new TypeError('max must be a whole number of at least 1.');
      const items: Item[] = [];
      for await (const item of this) {
        items.push(item);
        if (items.length === max) break;
      }
      return items;
    },
    async *[Symbol.asyncIterator]() {
      let page = await read(undefined);
      yield* page.data;
      while (page.has_more && page.next_cursor !== null) {
        page = await read(page.next_cursor);
        yield* page.data;
      }
    },
  };
}
