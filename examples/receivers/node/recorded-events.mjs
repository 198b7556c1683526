import { DatabaseSync } from 'node:sqlite';

/** The events that arrived, in a file: after a 2xx an event is not sent again, so it must be on disk by then. */
export function openRecordedEvents(file) {
  const database = new DatabaseSync(file);
  database.exec(
    'create table if not exists events (id text primary key, body text not null, handled integer default 0)',
  );
  const insert = database.prepare('insert into events (id, body) values (?, ?) on conflict do nothing');
  const unhandled = database.prepare('select body from events where handled = 0 order by rowid');
  const markHandled = database.prepare('update events set handled = 1 where id = ?');
  return {
    /** The same event may be delivered more than once. The primary key drops it from the second time on. */
    record: (id, body) => void insert.run(id, body),
    unhandled: () => unhandled.all().map(({ body }) => JSON.parse(body)),
    markHandled: (id) => void markHandled.run(id),
  };
}
