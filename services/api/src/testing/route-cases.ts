import { randomBytes } from 'node:crypto';
import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { type HttpAnswer, type HttpRequest, insertEvents, sendRequest, testEvent } from '@enterprise-api/testkit';
import { generateKey } from '../auth/key-format.ts';
import { insertDelivery } from './rows.ts';
import { sampleOf } from './samples.ts';
import { openStream } from './stream-client.ts';
import type { TestApi } from './test-api.ts';
import type { AnyRoute, Caller, Draft, Wrong } from './wrongs.ts';

/** Requests for any route of the tables, with chosen things wrong. */
export interface RouteCases {
  /** Sends a request that is correct except for these faults. */
  call(route: AnyRoute, found: readonly Wrong[]): Promise<HttpAnswer>;
  /** Sends a correct request with another body (text or bytes) or query, or with more headers. */
  callWith(route: AnyRoute, own: OwnParts): Promise<HttpAnswer>;
  /** The organization of every correct request. */
  organizationId(): Promise<string>;
  /** A webhook of that organization. */
  webhookId(): Promise<string>;
  /** A body that the route accepts. */
  validBody(route: AnyRoute): Promise<Record<string, unknown>>;
}

interface OwnParts {
  /** Whether the objects that the path names are made for this request, because it may consume them. */
  fresh?: boolean;
  body?: string | Buffer | undefined;
  query?: string;
  headers?: Record<string, string>;
}

/** An address that every key may be used from, and the one address that some may not be used from. */
const home = '203.0.113.7';
const elsewhere = '198.51.100.1';
const requestId = 'test.request-1';

/**
 * @param api trusts the proxy 127.0.0.1, and allows one request a minute on the plan `pro`
 * @param send another way to have the request answered; sends it by default
 */
export function createRouteCases(
  api: TestApi,
  send: (request: HttpRequest) => Promise<HttpAnswer> = sendRequest,
): RouteCases {
  const keyOf = createKeys(api);
  const idOf = createObjects(api, keyOf);
  const deliver = async (route: AnyRoute, draft: Draft, body: string | Buffer | undefined, fresh = false) => {
    const isInternal = route.path.startsWith('/internal/');
    const isConsumed = route.caller === 'any_key' && fresh;
    const newKey = async () => (await api.createKey({ ip_allowlist: [home] })).secret;
    const key = isInternal
      ? internalKey(api, draft.caller)
      : await (isConsumed ? newKey() : keyOf(draft.caller, route));
    let path = route.path;
    const isClosing = route.path.endsWith('/close');
    for (const [name, kind] of Object.entries(route.ids)) {
      const id = await idOf(isClosing && draft.id === 'known' ? 'closed' : kind, draft, fresh);
      path = path.replace(`{${name}}`, id);
      if (isClosing && typeof body === 'string') body = body.replace(/(?<="confirm":")\w*/, id);
    }
    const target = path + (draft.query === '' ? '' : `?${draft.query}`);
    const url = (isInternal ? api.internalUrl : api.publicUrl) + target;
    const headers = {
      'X-Request-Id': requestId,
      'X-Forwarded-For': draft.caller.elsewhere ? elsewhere : home,
      ...(key !== null && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...draft.headers,
    };
    const isStream = route.streams !== undefined && draft.method === 'GET' && body === undefined;
    return isStream && send === sendRequest
      ? beginningOf(url, headers)
      : send({ method: draft.method, url, headers, body });
  };
  const validBody = async ({ body, path }: AnyRoute) => {
    // It takes one selection, and the sample of its schema has all.
    if (path === '/internal/v1/erasures') {
      return { organization_id: await idOf('org', { id: 'known' }), subject: 'con_1' };
    }
    if (path.endsWith('/console-sessions')) return { label: 'Ada' };
    // The sample of a time is in the past, and a pause ends in the future.
    if (path.endsWith('/pause')) return { reason: 'a deployment' };
    // It takes one form of the body, and the sample of its schema has both.
    if (path.endsWith('/verify-signature')) return { headers: {}, body: '{}' };
    const known = {
      ...knownStrings,
      organization_id: await idOf('org', { id: 'known' }),
      webhook_id: await idOf('whk', { id: 'known' }),
      id: newUuid(),
      external_id: newUuid(),
    };
    if (body === undefined) return {};
    // The answer to a dry run has another status.
    const { dry_run: _, ...sample } = sampleOf(body, known) as Record<string, unknown>;
    return sample;
  };
  return {
    validBody,
    call: async (route, found) => {
      const draft = emptyDraft(route);
      for (const wrong of found) wrong.spoil(draft);
      const body = draft.body.sent ? spoilBody(route, draft, await validBody(route)) : undefined;
      return deliver(route, draft, body, found.length === 0);
    },
    callWith: async (route, { body, query = '', headers = {}, fresh }) =>
      deliver(route, { ...emptyDraft(route), query, headers }, body, fresh),
    organizationId: () => idOf('org', { id: 'known' }),
    webhookId: () => idOf('whk', { id: 'known' }),
  };
}

/** The answer of a stream, which would not end by itself. */
async function beginningOf(url: string, headers: Record<string, string>): Promise<HttpAnswer> {
  const { answer, close } = await openStream(url, headers);
  close();
  return answer;
}

function emptyDraft(route: AnyRoute): Draft {
  return {
    caller: { key: 'good', elsewhere: false, starter: false, overLimit: false, withoutScope: false },
    method: route.method,
    id: 'known',
    query: '',
    headers: {},
    body: { sent: route.body !== undefined, unknownField: false, suffix: '', padding: false },
  };
}

const knownStrings = {
  url: 'https://hooks.example.com/in',
  data: '{"consultation_id":"con_1"}',
  plan: 'enterprise',
  ip_allowlist: '192.0.2.1',
  // Later than the other sample of a time: a period must not be empty.
  until: '2026-11-22T07:00:00Z',
};

function spoilBody(route: AnyRoute, { body }: Draft, valid: Record<string, unknown>): string {
  const text = JSON.stringify(body.unknownField ? { ...valid, nonsense: 1 } : valid) + body.suffix;
  const maxBytes = route.maxBodyBytes ?? (route.path.startsWith('/internal/') ? 4_096 : 64) * 1_024;
  return body.padding ? text.padEnd(maxBytes + 1) : text;
}

function internalKey(api: TestApi, { key }: Caller): string | null {
  if (key === 'none') return null;
  return key === 'good' ? api.internalSecret : 'x'.repeat(40);
}

/** Makes each kind of key once, in an organization of its kind. */
function createKeys(api: TestApi) {
  const organizations = new Map<string, Promise<string>>();
  const keys = new Map<string, Promise<string>>();
  const organizationOf = ({ starter, overLimit }: Caller) =>
    once(organizations, `${starter} ${overLimit}`, () => makeOrganization(api, { starter, overLimit }));
  return async (caller: Caller, route: Pick<AnyRoute, 'scope'>): Promise<string | null> => {
    if (caller.key === 'none') return null;
    if (caller.key === 'garbage') return 'nwk_garbage';
    if (caller.key === 'unknown') return generateKey(randomBytes).secret;
    const organizationId = await organizationOf(caller);
    const scope = caller.withoutScope ? (route.scope === 'panels:read' ? 'me:read' : 'panels:read') : '*';
    const name = [organizationId, caller.key, scope].join(' ');
    const key = await once(keys, name, () => makeKey(api, organizationId, caller.key, scope));
    // After this request, the organization is over its limit in any case.
    if (caller.overLimit) await callMe(api, await once(keys, organizationId, () => makeKey(api, organizationId)));
    return key;
  };
}

async function makeOrganization(api: TestApi, { starter, overLimit }: Pick<Caller, 'starter' | 'overLimit'>) {
  const { id } = await api.createOrganization(overLimit ? 'pro' : 'enterprise');
  if (starter) await api.internal('patch', `/internal/v1/organizations/${id}`).send({ plan: 'starter' }).expect(200);
  return id;
}

async function makeKey(api: TestApi, organizationId: string, kind: Caller['key'] = 'good', scope = '*') {
  const key = await api.createKey({
    organizationId,
    scopes: [scope],
    ip_allowlist: [home],
    ...(kind === 'expired' && { expires_at: '2020-01-01T00:00:00Z' }),
  });
  if (kind === 'revoked') await api.internal('delete', `/internal/v1/keys/${key.id}`).expect(204);
  return key.secret;
}

const callMe = (api: TestApi, key: string) =>
  sendRequest({
    method: 'GET',
    url: `${api.publicUrl}/v1/me`,
    headers: { Authorization: `Bearer ${key}`, 'X-Forwarded-For': home },
  });

/** Finds or makes what an id in a path names: a new one for a request that is to succeed, for it may consume it. */
function createObjects(api: TestApi, keyOf: ReturnType<typeof createKeys>) {
  const made = new Map<string, Promise<string>>();
  const plain: Caller = { key: 'good', elsewhere: false, starter: false, overLimit: false, withoutScope: false };
  const make = async (kind: string, key: string, organizationId: string): Promise<string> => {
    if (kind === 'org') return organizationId;
    // All other requests need their organization.
    if (kind === 'closed') return (await api.createOrganization()).id;
    if (kind === 'ers') {
      const body = { organization_id: organizationId, subject: 'con_1' };
      return (await api.internal('post', '/internal/v1/erasures').send(body).expect(202)).body.id;
    }
    if (kind === 'evt') {
      const [written] = await insertEvents(api.db, [testEvent(organizationId)]);
      return toPublicId('evt', written?.id as string);
    }
    if (kind === 'key') return (await api.createKey({ organizationId })).id;
    const body = JSON.stringify({ url: 'https://hooks.example.com/in', events: ['*'] });
    const headers = { Authorization: `Bearer ${key}`, 'X-Forwarded-For': home, 'Content-Type': 'application/json' };
    if (kind === 'ses') {
      const url = `${api.publicUrl}/v1/console-sessions`;
      return (await sendRequest({ method: 'POST', url, headers, body: '{}' })).body.id;
    }
    const webhook = await sendRequest({ method: 'POST', url: `${api.publicUrl}/v1/webhooks`, headers, body });
    if (kind === 'whk') return webhook.body.id;
    if (kind === 'rpl') {
      const replayed = `${api.publicUrl}/v1/webhooks/${webhook.body.id}/replay`;
      const since = JSON.stringify({ since: '2026-11-21T07:00:00Z' });
      return (await sendRequest({ method: 'POST', url: replayed, headers, body: since })).body.id;
    }
    if (kind !== 'dlv')
      throw new Error(`testing/route-cases.ts cannot make an object of the kind ${kind}: add it there.`);
    const place = { organizationId, webhookId: webhook.body.id };
    return (await insertDelivery(api.db, place, { status: 'failed' })).id;
  };
  const mine = async (kind: string) => {
    const key = (await keyOf(plain, { scope: null })) as string;
    const { organization } = (await callMe(api, key)).body;
    return make(kind, key, organization.id);
  };
  const foreign = async (kind: string) => {
    const key = await api.createKey({ ip_allowlist: [home] });
    return make(kind, key.secret, key.organization_id);
  };
  return async (kind: string, draft: Pick<Draft, 'id'>, fresh = false): Promise<string> => {
    if (draft.id === 'malformed') return `${kind}_nonsense`;
    if (draft.id === 'unknown') return toPublicId(kind, newUuid());
    if (draft.id === 'foreign') return once(made, `foreign ${kind}`, () => foreign(kind));
    return fresh && kind !== 'org' && kind !== 'closed' ? mine(kind) : once(made, kind, () => mine(kind));
  };
}

function once<Value>(values: Map<string, Promise<Value>>, name: string, make: () => Promise<Value>): Promise<Value> {
  const value = values.get(name) ?? make();
  values.set(name, value);
  return value;
}
