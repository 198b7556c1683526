import { createList, EnterpriseApi, type Page } from '@enterprise-api/sdk';
import type { Context } from '../context.ts';
import { type Access, resolveAccess } from '../settings/settings.ts';
import { userAgent } from '../version.ts';

type Query = Record<string, string | number>;

/** Calls the internal listener with its secret. Methods reject as those of the SDK's client do. */
export interface InternalApi {
  get<Body>(path: string, query?: Query): Promise<Body>;
  /** Every item of a list, page by page. */
  list<Item>(path: string, query?: Query): AsyncIterable<Item>;
  /** @param body an object, or JSON as text, which is sent as it is */
  post<Body>(path: string, body: object | string): Promise<Body>;
  patch<Body>(path: string, body: object): Promise<Body>;
  delete(path: string): Promise<void>;
}

interface Caller {
  signal: AbortSignal;
  /** Who asks, for the audit log. */
  actor?: string | undefined;
}

/** The internal listener with the secret of the environment or of the profile. */
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
    // The internal listener honours Idempotency-Key on its POSTs; its changes and deletions may be made twice anyway.
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
