/** What the pool needs to know of a connection. */
export type PooledConnection = {
  readonly origin: string;
  /** The address at its other end; null while it has none. */
  readonly peer: string | null;
  /** Whether it still stands. */
  isOpen(): boolean;
  destroy(): void;
};

/** A busy origin's connections come and go: one that was not needed for so long is spare. */
const spareAfterMs = 1_000;

/**
 * Connections that wait for their next request, by origin. One is taken only while its peer is among the addresses that
 * the host has now: a name that moved takes its deliveries with it. The number of waiting connections is bounded; what
 * goes first is one of those that are not the only one of their origin, when it has not been needed for a while, then the
 * one that has waited longest of all: with a thousand origins, what the busy ones needed once would push out the only ones
 * of the others.
 */
export class ConnectionPool<Connection extends PooledConnection> {
  readonly #maxIdle: number;
  readonly #byOrigin = new Map<string, Connection[]>();
  /** In the order in which they began to wait. */
  readonly #idle = new Set<Connection>();
  /** Those of them behind the first of their origin, and since when (monotonic). */
  readonly #spare = new Map<Connection, number>();
  readonly #monotonic: () => number;

  constructor(maxIdle: number, monotonic: () => number) {
    this.#maxIdle = maxIdle;
    this.#monotonic = monotonic;
  }

  /** The most recently used connection that fits; it no longer waits. */
  take(origin: string, addresses: readonly string[]): Connection | undefined {
    const waiting = this.#byOrigin.get(origin) ?? [];
    for (let index = waiting.length - 1; index >= 0; index -= 1) {
      const connection = waiting[index];
      if (connection?.peer == null || !connection.isOpen() || !addresses.includes(connection.peer)) continue;
      // The list stays when it becomes empty: the connection will most likely come back.
      this.#takeOut(waiting, index, connection);
      return connection;
    }
    return undefined;
  }

  /** Lets a connection wait. */
  put(connection: Connection): void {
    const waiting = this.#byOrigin.get(connection.origin);
    if (waiting === undefined) this.#byOrigin.set(connection.origin, [connection]);
    else if (waiting.push(connection) > 1) this.#spare.set(connection, this.#monotonic());
    this.#idle.add(connection);
    if (this.#idle.size > this.#maxIdle) this.#dropOldest();
  }

  /** Forgets a connection that has ended, waiting or not. */
  remove(connection: Connection): void {
    const waiting = this.#byOrigin.get(connection.origin) ?? [];
    const index = waiting.lastIndexOf(connection);
    if (index !== -1) this.#takeOut(waiting, index, connection);
    if (waiting.length === 0) this.#byOrigin.delete(connection.origin);
  }

  #takeOut(waiting: Connection[], index: number, connection: Connection): void {
    waiting.splice(index, 1);
    this.#idle.delete(connection);
    this.#spare.delete(connection);
    const [first] = waiting;
    if (first !== undefined) this.#spare.delete(first);
  }

  #dropOldest(): void {
    const [[spare, since] = []] = this.#spare;
    const isSpare = since !== undefined && this.#monotonic() - since >= spareAfterMs;
    const [oldest] = isSpare ? [spare] : this.#idle;
    if (oldest === undefined) return;
    this.remove(oldest);
    oldest.destroy();
  }

  destroyAll(): void {
    while (this.#idle.size > 0) this.#dropOldest();
  }
}
