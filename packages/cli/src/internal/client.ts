import { createList, EnterpriseApi, type Page } from '@enterprise-api/sdk';
import type { Context } from '../context.ts';
import { type Access, resolveAccess } from '../settings/settings.ts';
import { userAgent } from '../version.ts';

type Query = Record<string, string | number>;

/** Calls the internal listener with its secret. Methods throw the errors of the SDK's client. */
export interface InternalApi {
  get<Body>(path: string, query?: Query): Promise<Body>;
  /** Yields every item of a list, page by page. */
  list<Item>(path: string, query?: Query): AsyncIterable<Item>;
  /** @param body an object, or JSON text, which is sent unchanged */
  post<Body>(path: string, body: object | string): Promise<Body>;
  patch<Body>(path: string, body: object): Promise<Body>;
  delete(path: string): Promise<void>;
}

interface Caller {
  signal: AbortSignal;
  /** The person's name for the audit log. */
  actor?: string | undefined;
}

/** Creates a client of the internal listener with the secret of the environment or the profile. */
export function internalApiOf({ io, options, profiles }: Context): InternalApi {
  const access = resolveAccess('internal', options, io.env, profiles);
  return openInternalApi(access, { signal: io.signal, actor: options.actor });
}

export function openInternalApi({ url, secret }: Access, { signal, actor }: Caller): InternalApi {
  const client = new EnterpriseApi({ baseUrl: url, apiKey: secret, userAgent });
  const send = async <Body>(
    method: string,
    path: string,
    fields: { query?: Query; body?: object; rawBody?: string },
  ) => {
    const headers = {
      ...(actor !== undefined && { 'x-actor': actor }),
      ...(fields.rawBody !== undefined && { 'content-type': 'application/json' }),
    };
    // The internal listener honours `Idempotency-Key` on every POST. Repeating a change or a deletion does no harm.
    const answer = await client.request<Body>(method, path, {
      ...fields,
      headers,
      signal,
      ownerHonoursIdempotencyKey: true,
    });
    return answer.body;
  };
  const get = <Body>(path: string, query: Query = {}) => send<Body>('GET', path, { query });
  return {
    get,
    list: <Item>(path: string, query: Query = {}) =>
      createList<Item>((cursor) => get<Page<Item>>(path, { ...query, ...(cursor !== undefined && { cursor }) })),
    post: (path, body) => send('POST', path, typeof body === 'string' ? { rawBody: body } : { body }),
    patch: (path, body) => send('PATCH', path, { body }),
    delete: async (path) => {
      await send('DELETE', path, {});
    },
  };
}
