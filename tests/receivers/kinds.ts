import { execFile } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { projectFolder } from '@enterprise-api/testkit';

const examples = join(projectFolder, 'examples/receivers');

/** What the example receivers differ in. `folder` is where one of them keeps the events that arrived. */
export interface ReceiverKind {
  /** Builds it, when its language asks for that. */
  prepare(folder: string): Promise<{ command: string; args: string[] }>;
  settings(folder: string): Record<string, string>;
  /** The line of its output that names its port. */
  listening: RegExp;
  /** Records an event as a process does that is killed between its answer and its work. */
  record(folder: string, id: string, body: string): void;
  /** Makes recording fail until the returned function is called. */
  block(folder: string): () => void;
}

export const nodeReceiver: ReceiverKind = {
  prepare: async () => ({ command: process.execPath, args: [join(examples, 'node/receiver.mjs')] }),
  ...sqliteStore(),
  listening: /^listening on port (\d+)$/,
};

export const pythonReceiver = (python: string): ReceiverKind => ({
  prepare: async () => ({ command: python, args: ['-B', join(examples, 'python/receiver.py')] }),
  ...sqliteStore(),
  listening: /Uvicorn running on https:\/\/127\.0\.0\.1:(\d+)/,
});

export const goReceiver = (go: string): ReceiverKind => ({
  prepare: async (folder) => {
    const command = join(folder, 'receiver');
    // Without a network: the receiver needs the standard library only.
    const env = { ...process.env, GOTOOLCHAIN: 'local', GOPROXY: 'off', GOFLAGS: '' };
    await promisify(execFile)(go, ['build', '-o', command, '.'], { cwd: join(examples, 'go'), env });
    return { command, args: [] };
  },
  settings: (folder) => ({ EVENTS_FOLDER: join(folder, 'events') }),
  listening: /^listening on port (\d+)$/,
  record: (folder, id, body) => writeFileSync(join(folder, 'events', `${id}.json`), body),
  block: (folder) => {
    const [events, away] = [join(folder, 'events'), join(folder, 'away')];
    renameSync(events, away);
    return () => renameSync(away, events);
  },
});

function sqliteStore(): Pick<ReceiverKind, 'settings' | 'record' | 'block'> {
  const file = (folder: string) => join(folder, 'events.db');
  return {
    settings: (folder) => ({ DATABASE_FILE: file(folder) }),
    record: (folder, id, body) => {
      const database = new DatabaseSync(file(folder), { timeout: 5_000 });
      database.prepare('insert into events (id, body) values (?, ?)').run(id, body);
      database.close();
    },
    block: (folder) => {
      const database = new DatabaseSync(file(folder), { timeout: 5_000 });
      database.exec('begin immediate');
      return () => database.close();
    },
  };
}
