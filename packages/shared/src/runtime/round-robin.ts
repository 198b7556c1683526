/** Alternates between owners, one item each. The items of one owner keep their order of arrival. */
export class RoundRobin<Item> {
  /** Owners in the order in which they are served. Every owner in the map has items. */
  readonly #itemsOf = new Map<string, Item[]>();

  get isEmpty(): boolean {
    return this.#itemsOf.size === 0;
  }

  add(owner: string, item: Item): void {
    const items = this.#itemsOf.get(owner);
    if (items === undefined) this.#itemsOf.set(owner, [item]);
    else items.push(item);
  }

  /**
   * Removes and returns the next accepted item. If `accepts` refuses an owner's first item, the owner keeps its
   * position, and its later items wait behind the first.
   */
  take(accepts: (item: Item) => boolean = () => true): Item | undefined {
    for (const [owner, items] of this.#itemsOf) {
      const [first] = items;
      if (first === undefined || !accepts(first)) continue;
      items.shift();
      this.#itemsOf.delete(owner);
      if (items.length > 0) this.#itemsOf.set(owner, items);
      return first;
    }
    return undefined;
  }
}
