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
