/** Items of many owners. Owners are served in turn, one item each, and the items of one owner in the order of their arrival. */
export class RoundRobin<Item> {
  /** In the order in which the owners are served; none is without items. */
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
   * Removes and returns the next item that is accepted. An owner whose first item is not accepted keeps its turn: none of
   * its later items overtakes that one.
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
