import { Client, type ClientConfig } from 'pg';
import { MicroBatcher } from '../../runtime/micro-batcher.ts';
import type { Change, ChangeFeed } from './change-feed.ts';
import { changeChannel, deliverChange } from './message.ts';

/**
 * Connecting and notifying take milliseconds. A publisher waits for both, and must not wait longer for a server that
 * hangs.
 */
const answerWithinMs = 1_000;
const listenAgainAfterMs = 1_000;

/** Sends changes with `NOTIFY`. Listens on one connection and publishes on another, which opens at the first change. */
export function createPostgresFeed(settings: ClientConfig, onError: (error: Error) => void): ChangeFeed {
  return new PostgresFeed(settings, onError);
}

class PostgresFeed implements ChangeFeed {
  readonly #settings: ClientConfig;
  readonly #onError: (error: Error) => void;
  readonly #connections = new Set<Client>();
  /**
   * Runs one statement at a time, because pg's clients no longer queue statements. Changes that arrive meanwhile share
   * the next statement.
   */
  readonly #changes = new MicroBatcher({ run: (changes: Change[]) => this.#notify(changes), maxRunning: 1 });
  #publisher: Promise<Client> | undefined;
  #isClosed = false;

  constructor(settings: ClientConfig, onError: (error: Error) => void) {
    this.#settings = settings;
    this.#onError = onError;
  }

  publish = async (change: Change): Promise<void> => {
    await this.#changes.add(change).catch((error: unknown) => this.#onError(asError(error)));
  };

  subscribe = async (listener: (change: Change) => void, lost: () => void): Promise<void> => {
    if (this.#isClosed) return;
    const listenAgain = () => {
      if (!this.#isClosed) setTimeout(() => void this.subscribe(listener, lost), listenAgainAfterMs).unref();
    };
    let client: Client | undefined;
    try {
      client = await this.#connect();
      client.on('notification', ({ payload }) => deliverChange(payload ?? '', listener));
      await client.query(`listen ${changeChannel}`);
      client.once('end', listenAgain);
      lost();
    } catch (error) {
      if (client !== undefined) void this.#drop(client);
      this.#onError(asError(error));
      listenAgain();
    }
  };

  close = async (): Promise<void> => {
    this.#isClosed = true;
    await Promise.allSettled([...this.#connections].map((client) => client.end()));
  };

  async #notify(changes: Change[]): Promise<void> {
    // A server restart can break an idle connection unnoticed. The second try opens a new connection.
    await this.#tryToNotify(changes).catch(() => this.#tryToNotify(changes));
  }

  async #tryToNotify(changes: Change[]): Promise<void> {
    this.#publisher ??= this.#connect();
    const used = this.#publisher;
    try {
      const messages = changes.map((change) => JSON.stringify(change));
      await (await used).query('select pg_notify($1, message) from unnest($2::text[]) message', [
        changeChannel,
        messages,
      ]);
    } catch (error) {
      this.#publisher = undefined;
      used.then(
        (client) => this.#drop(client),
        () => undefined,
      );
      throw error;
    }
  }

  async #connect(): Promise<Client> {
    if (this.#isClosed) throw new Error('The change feed is closed.');
    const client = new Client({
      ...this.#settings,
      keepAlive: true,
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
    });
    this.#connections.add(client);
    client.on('error', this.#onError);
    client.on('end', () => this.#connections.delete(client));
    await client.connect().catch((error: unknown) => {
      void this.#drop(client);
      throw error;
    });
    return client;
  }

  async #drop(client: Client): Promise<void> {
    this.#connections.delete(client);
    await client.end().catch(this.#onError);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
