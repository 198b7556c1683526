/** What the pool needs to know of a connection. */
export type PooledConnection = {
  readonly origin: string;
  /** The remote address; null until it is connected. */
  readonly peer: string | null;
  isOpen(): boolean;
  destroy(): void;
};

/** The number of connections that a busy origin needs varies: one that was idle for so long is spare. */
const spareAfterMs = 1_000;

/**
 * Idle connections, by origin. One is reused only while its peer is among the addresses that the host has now, so that a
 * host that moved takes its deliveries along. Their number is bounded. The first to be closed is a spare one of an origin
 * that has others, then the one that has been idle longest: with a thousand origins, the connections that a busy origin
 * needed once would otherwise push out the only ones of other origins.
 */
export class ConnectionPool<Connection extends PooledConnection> {
  readonly #maxIdle: number;
  readonly #byOrigin = new Map<string, Connection[]>();
  /** In the order in which they became idle. */
  readonly #idle = new Set<Connection>();
  /** All but the first of each origin, and since when they are idle (monotonic). */
  readonly #spare = new Map<Connection, number>();
  readonly #monotonic: () => number;

  constructor(maxIdle: number, monotonic: () => number) {
    this.#maxIdle = maxIdle;
    this.#monotonic = monotonic;
  }

  /** The most recently used idle connection to one of these addresses. It is no longer idle. */
  acquire(origin: string, addresses: readonly string[]): Connection | undefined {
    const idle = this.#byOrigin.get(origin) ?? [];
    for (let index = idle.length - 1; index >= 0; index -= 1) {
      const connection = idle[index];
      if (connection?.peer == null || !connection.isOpen() || !addresses.includes(connection.peer)) continue;
      // The list stays when it becomes empty: the connection will most likely come back.
      this.#remove(idle, index, connection);
      return connection;
    }
    return undefined;
  }

  /** Keeps a connection for the next request. */
  release(connection: Connection): void {
    const idle = this.#byOrigin.get(connection.origin);
    if (idle === undefined) this.#byOrigin.set(connection.origin, [connection]);
    else if (idle.push(connection) > 1) this.#spare.set(connection, this.#monotonic());
    this.#idle.add(connection);
    if (this.#idle.size > this.#maxIdle) this.#dropOldest();
  }

  /** Forgets a connection that has ended, idle or not. */
  remove(connection: Connection): void {
    const idle = this.#byOrigin.get(connection.origin) ?? [];
    const index = idle.lastIndexOf(connection);
    if (index !== -1) this.#remove(idle, index, connection);
    if (idle.length === 0) this.#byOrigin.delete(connection.origin);
  }

  #remove(idle: Connection[], index: number, connection: Connection): void {
    idle.splice(index, 1);
    this.#idle.delete(connection);
    this.#spare.delete(connection);
    const [first] = idle;
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
