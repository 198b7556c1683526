import { randomUUID } from 'node:crypto';
import type { Answer } from './http/answer.ts';
import { errorOf } from './http/answer.ts';
import type { Query } from './http/target.ts';
import type { Send, TransportRequest } from './http/transport.ts';
import { createList, type List, type Page } from './list.ts';
import type { CallOptions, ChangeOptions, PostOptions } from './options.ts';

/**
 * Calls of the API's own operations. The SDK may repeat all of them: a GET has no effect, a POST has an
 * `Idempotency-Key` or is sent once, and a change states the final values.
 */
export interface Operations {
  get<Body>(path: string, query?: Query, options?: CallOptions): Promise<Body>;
  list<Item>(path: string, query?: Query, options?: CallOptions): List<Item>;
  post<Body>(path: string, body?: object, options?: PostOptions): Promise<Body>;
  /** A POST that refuses an `Idempotency-Key`: the SDK repeats it only if the API refused it before any work. */
  postOnce<Body>(path: string, body: object, options?: CallOptions): Promise<Body>;
  patch<Body>(path: string, body: object, options?: ChangeOptions): Promise<Body>;
  /** @param deletedStatus the status of a repeat after the deletion; 404 by default */
  delete(path: string, options?: ChangeOptions, deletedStatus?: number): Promise<void>;
}

export function createOperations(send: Send): Operations {
  const call = async (request: TransportRequest, options: CallOptions = {}): Promise<unknown> => {
    const answer = await send(request, options);
    options.onResponse?.(headOf(answer));
    // The API never redirects, so another server answered.
    if (answer.status >= 300) throw errorOf(answer, Date.now());
    return answer.body;
  };
  const get = async <Body>(path: string, query?: Query, options?: CallOptions) =>
    (await call({ method: 'GET', path, query, repeatable: 'always' }, options)) as Body;
  return {
    get,
    list: <Item>(path: string, query?: Query, options?: CallOptions) =>
      createList((cursor) => get<Page<Item>>(path, cursor === undefined ? query : { ...query, cursor }, options)),
    post: async <Body>(path: string, body?: object, options: PostOptions = {}) => {
      const headers = { 'idempotency-key': options.idempotencyKey ?? randomUUID() };
      return (await call({ method: 'POST', path, ...json(body, headers), repeatable: 'always' }, options)) as Body;
    },
    postOnce: async <Body>(path: string, body: object, options?: CallOptions) =>
      (await call({ method: 'POST', path, ...json(body, {}), repeatable: 'when_refused' }, options)) as Body,
    patch: async <Body>(path: string, body: object, options: ChangeOptions = {}) =>
      (await call(
        { method: 'PATCH', path, ...json(body, ifMatch(options)), repeatable: changes(options) },
        options,
      )) as Body,
    delete: async (path, options = {}, deletedStatus = 404) => {
      const request = {
        method: 'DELETE',
        path,
        headers: ifMatch(options),
        repeatable: changes(options),
        deletedStatus,
      };
      await call(request, options);
    },
  };
}

export function headOf({ status, headers }: Answer) {
  return { status, headers, requestId: headers['x-request-id'] ?? null };
}

/** With `If-Match`, repeating a change that succeeded looks like a conflict. */
function changes({ ifMatch }: ChangeOptions): TransportRequest['repeatable'] {
  return ifMatch === undefined ? 'always' : 'when_refused';
}

function ifMatch({ ifMatch }: ChangeOptions) {
  return { 'if-match': ifMatch };
}

function json(body: object | undefined, headers: Record<string, string | undefined>) {
  if (body === undefined) return { headers };
  return { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
