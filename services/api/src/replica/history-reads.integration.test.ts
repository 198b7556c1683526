import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { createClosers, createLogger, systemClock } from '@enterprise-api/shared/runtime';
import { forStandbys, startOwnPostgres, startStandby, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type HistoryReads, openHistoryReads } from './history-reads.ts';
import { hasReplayed, readFlushedPosition } from './queries.ts';

const resources = new AsyncDisposableStack();
let primary: Database;
let replica: Database;
let history: HistoryReads;
beforeAll(async () => {
  const server = resources.use(await startOwnPostgres({ settings: forStandbys }));
  const standby = resources.use(await startStandby(server));
  [primary, replica] = [open(server.url), open(standby.url)];
  const log = createLogger('test', 'silent');
  const closers = createClosers(log);
  resources.defer(closers.closeAll);
  const foundation = { log, clock: systemClock, closers };
  history = openHistoryReads(foundation, { primary, replica, onRead: () => undefined });
}, 120_000);
afterAll(async () => resources.disposeAsync());

function open(url: string): Database {
  const db = createDatabase({ url, applicationName: 'test', poolSize: 2, onError: () => undefined });
  resources.defer(() => db.destroy());
  return db;
}

const placeOf = async (db: Database) => (db === replica ? 'replica' : 'primary');
const untilReplicaIsRead = () =>
  until('a list is read from the replica', async () => (await history(placeOf)) === 'replica', { withinMs: 60_000 });

describe('a history list', () => {
  it('is read from the replica once it has replayed what the primary had flushed', async () => {
    expect(await untilReplicaIsRead()).toBe(true);
  });

  it('is read from the primary when the replica fails', async () => {
    await untilReplicaIsRead();
    const canceled = async (db: Database) => {
      if (db === replica) throw new Error('canceling statement due to conflict with recovery');
      return 'primary';
    };
    expect(await history(canceled)).toBe('primary');
  });

  it('is read from the primary when the replica does not answer', async () => {
    await untilReplicaIsRead();
    const hanging = (db: Database) => (db === replica ? new Promise<never>(() => undefined) : placeOf(db));
    expect(await history(hanging)).toBe('primary');
  });
});

describe('a server has replayed a position', () => {
  it('when it is a replica on the same timeline of the same database, and not behind', async () => {
    const position = await readFlushedPosition(primary);
    await until('the position is replayed', () => hasReplayed(replica, position));
    const [system, timeline] = position.timeline.split(' ');
    for (const other of [`${system} ${Number(timeline) + 1}`, `1${system} ${timeline}`])
      expect(await hasReplayed(replica, { ...position, timeline: other })).toBe(false);
    expect(await hasReplayed(replica, { ...position, lsn: 'FFFFFFFF/0' })).toBe(false);
    expect(await hasReplayed(primary, position)).toBe(false);
    await expect(readFlushedPosition(replica)).rejects.toThrow('recovery is in progress');
  });
});
