/**
 * A map with a maximum number of entries. Beyond that number, each new entry drops the one that was set longest ago.
 * Setting a key again makes it the newest. Reading a key does not, so that a read costs no more than in a plain map.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxEntries: number;

  constructor(maxEntries = 10_000) {
    super();
    this.#maxEntries = maxEntries;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#maxEntries) {
      for (const oldest of this.keys()) {
        this.delete(oldest);
        break;
      }
    }
    return this;
  }
}
