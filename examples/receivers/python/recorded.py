"""The events that arrived, in a file: after a 2xx an event is not sent again, so it must be on disk by then."""

import json
import sqlite3
from contextlib import closing

_TABLE = "create table if not exists events (id text primary key, body text not null, handled integer default 0)"


class RecordedEvents:
    def __init__(self, file):
        self._file = file
        self._run(_TABLE)

    def record(self, raw_body):
        """The same event may be delivered more than once. The primary key drops it from the second time on."""
        body = raw_body.decode()
        self._run("insert into events (id, body) values (?, ?) on conflict do nothing", (json.loads(body)["id"], body))

    def unhandled(self):
        return [json.loads(body) for (body,) in self._run("select body from events where handled = 0 order by rowid")]

    def mark_handled(self, event_id):
        self._run("update events set handled = 1 where id = ?", (event_id,))

    def _run(self, statement, values=()):
        with closing(sqlite3.connect(self._file, timeout=2)) as database, database:
            return database.execute(statement, values).fetchall()
