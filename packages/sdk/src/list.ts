/** One page of a list. */
export interface Page<Item> {
  object: 'list';
  data: Item[];
  has_more: boolean;
  /** Where the next page begins; null when there is none. */
  next_cursor: string | null;
}

/** A list that is read page by page: `for await` goes through all of it, `page` reads one page. */
export interface List<Item> extends AsyncIterable<Item> {
  /** The first page, or the one that a cursor leads to. */
  page(cursor?: string): Promise<Page<Item>>;
}

/**
 * A list of any path that is read in pages as the API's are, such as one of an area:
 * `createList((cursor) => …)`.
 *
 * @param read reads the page that a cursor leads to; without one the first
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
