/** One page of a list. */
export interface Page<Item> {
  object: 'list';
  data: Item[];
  has_more: boolean;
  /** Cursor of the next page; null on the last page. */
  next_cursor: string | null;
}

/** A paged list. `for await` iterates over all items; `page` reads one page. */
export interface List<Item> extends AsyncIterable<Item> {
  /** Returns the first page, or the page of a cursor. */
  page(cursor?: string): Promise<Page<Item>>;
}

/**
 * Creates a list from any path with the API's paging, such as one of an area: `createList((cursor) => …)`.
 *
 * @param read reads the page of a cursor, or the first page without one
 */
export function createList<Item>(read: (cursor: string | undefined) => Promise<Page<Item>>): List<Item> {
  return {
    page: (cursor) => read(cursor),
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
