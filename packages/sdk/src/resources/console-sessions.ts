import { pathOf } from '../http/target.ts';
import type { Operations } from '../operations.ts';
import type { CallOptions } from '../options.ts';
import type { ConsoleSession, ConsoleSessionWithUrl, CreateConsoleSession, ListConsoleSessions } from '../types.ts';

/** Links to the console that the client's key makes, and their sessions. */
export function createConsoleSessions({ list, postOnce, delete: remove }: Operations) {
  return {
    create: (body: CreateConsoleSession = {}, options?: CallOptions) =>
      postOnce<ConsoleSessionWithUrl>('/v1/console-sessions', body, options),
    list: (query?: ListConsoleSessions, options?: CallOptions) =>
      list<ConsoleSession>('/v1/console-sessions', { ...query }, options),
    end: (id: string, options?: CallOptions) => remove(pathOf`/v1/console-sessions/${id}`, options),
  };
}
