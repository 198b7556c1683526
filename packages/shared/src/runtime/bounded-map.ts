/**
 * A map with a maximum number of entries. In a full map, each new entry replaces the entry that was set longest ago.
 * Setting a key again makes its entry the newest. Reading a key changes nothing and costs as little as in a plain map.
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
