import { Client, type ClientConfig } from 'pg';
import { createMicroBatcher } from '../../runtime/micro-batcher.ts';
import type { Change, ChangeFeed } from './change-feed.ts';
import { changeChannel, deliverChange } from './message.ts';

/** Connecting and notifying are a matter of milliseconds. Whoever publishes waits for them, and must not for a server that hangs. */
const answerWithinMs = 1_000;
const listenAgainAfterMs = 1_000;

/** Changes by `NOTIFY`; two connections of our own, one of them only when something is published. */
export function createPostgresFeed(settings: ClientConfig, onError: (error: Error) => void): ChangeFeed {
  const connections = new Set<Client>();
  let closed = false;
  const drop = async (client: Client): Promise<void> => {
    connections.delete(client);
    await client.end().catch(onError);
  };
  const connect = async (): Promise<Client> => {
    const client = new Client({
      ...settings,
      keepAlive: true,
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
    });
    connections.add(client);
    client.on('error', onError);
    client.on('end', () => connections.delete(client));
    await client.connect().catch((error: unknown) => {
      void drop(client);
      throw error;
    });
    return client;
  };

  let publisher: Promise<Client> | undefined;
  const notify = async (changes: Change[]): Promise<void> => {
    publisher ??= connect();
    const used = publisher;
    try {
      const payloads = changes.map((change) => JSON.stringify(change));
      await (await used).query('select pg_notify($1, payload) from unnest($2::text[]) as x (payload)', [
        changeChannel,
        payloads,
      ]);
    } catch (error) {
      // Of several that fail together only the first has this one to give up: the next try may have begun already.
      if (publisher === used) publisher = undefined;
      used.then(drop, () => undefined);
      throw error;
    }
  };

  const listen = async (listener: (change: Change) => void, lost: () => void): Promise<void> => {
    if (closed) return;
    const again = () => {
      if (!closed) setTimeout(() => void listen(listener, lost), listenAgainAfterMs).unref();
    };
    let client: Client | undefined;
    try {
      client = await connect();
      client.on('notification', ({ payload }) => deliverChange(payload ?? '', listener));
      await client.query(`listen ${changeChannel}`);
      client.once('end', again);
      lost();
    } catch (error) {
      if (client !== undefined) void drop(client);
      onError(asError(error));
      again();
    }
  };
  // One statement at a time: the driver warns of a connection that is given a statement while another one runs.
  const batcher = createMicroBatcher<Change, void>({
    maxRunning: 1,
    // An idle connection may have died unnoticed, as when the server was restarted: the second try has a new one.
    run: (changes) =>
      notify(changes)
        .catch(() => notify(changes))
        .catch((error: unknown) => onError(asError(error))),
  });
  return {
    publish: (change) => batcher.add(change),
    subscribe: listen,
    close: async () => {
      closed = true;
      await Promise.allSettled([...connections].map((client) => client.end()));
    },
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
