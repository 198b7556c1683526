import type { Database } from '@enterprise-api/shared/ledger';
import { fromPublicId, toPublicId } from '@enterprise-api/shared/runtime';
import { type ApiListeners, createApiClient } from '@enterprise-api/testkit';
import { type DocumentedOperation, type DocumentName, openApiDocument } from '@enterprise-api/testkit/openapi';
import { sql } from 'kysely';
import type { SearchedPlaces } from '../security/searched-places.ts';

/** A POST request, which is sent again with its headers. */
export interface Repeat {
  path: string;
  body?: object;
  headers: Record<string, string>;
}

interface Asked {
  id: string;
  key: string;
  firstEventId: string;
  repeats: readonly Repeat[];
}

type Ids = Readonly<Record<string, readonly string[]>>;

const tables = { dlv: 'deliveries', ers: 'erasures', evt: 'events', key: 'api_keys', rpl: 'replays', whk: 'webhooks' };
/** A stream does not end, and the campaign reads it by itself. The other answer is about a single request. */
const leftOut = ['/v1/events/stream', '/internal/v1/authorize'];
const readBySession = /^\/v1\/(?!console-sessions)/;
const ownPaths = ['/session', '/keys', '/keys/{id}', '/audit'];

/**
 * What every GET route of both documents and of the console shows about two organizations, what the POST routes show
 * that change nothing, and what repeated requests get. The second organization is closed: its key opens nothing.
 *
 * @throws if a GET route refuses
 */
export async function everyAnswer(db: Database, api: ApiListeners, open: Asked, closed: Asked) {
  const places: SearchedPlaces = new Map();
  const { call, internal } = createApiClient(api, { key: open.key });
  const ask = async (via: typeof call, method: string, path: string, ...sent: [object?, Record<string, string>?]) => {
    const { status, text, headers } = await via(method, path, ...sent);
    if (method === 'GET' && status !== 200) throw new Error(`GET ${path} was answered with ${status}: ${text}`);
    const name = `${method} ${path}`;
    places.set(name, [places.get(name), JSON.stringify(headers), text].join('\n'));
  };
  for (const owner of [open, closed]) {
    const ids = await idsOf(db, owner.id);
    for (const path of targets('internal-openapi', ids)) await ask(internal, 'GET', path);
    for (const queue of ['events', 'event-writes'])
      for (const state of ['waiting', 'active', 'delayed', 'failed'])
        await ask(internal, 'GET', `/internal/v1/queue-jobs?queue=${queue}&state=${state}`);
    for (const { path, body, headers } of owner.repeats)
      await ask(path.startsWith('/internal') ? internal : call, 'POST', path, body, headers);
    for (const id of ids.whk ?? []) await ask(internal, 'POST', `/internal/v1/webhooks/${id}/replay`, preview());
  }
  const ids = await idsOf(db, open.id);
  const inConsole = await enterConsole(api, open.id);
  for (const path of targets('openapi', ids)) {
    await ask(call, 'GET', path);
    if (readBySession.test(path)) await ask(inConsole, 'GET', path);
  }
  for (const path of ownPaths)
    for (const id of path.includes('{') ? (ids.key ?? []) : ['']) await ask(inConsole, 'GET', path.replace('{id}', id));
  for (const via of [call, inConsole]) {
    await ask(via, 'POST', '/v1/webhooks/explain', { type: 'consultation.completed' });
    for (const id of ids.whk ?? []) {
      const received = { headers: { 'webhook-id': open.firstEventId }, body: '{}', computed: 'none' };
      await ask(via, 'POST', `/v1/webhooks/${id}/verify-signature`, received);
      await ask(via, 'POST', `/v1/webhooks/${id}/replay`, preview());
    }
  }
  return places;
}

/** Twenty objects of each kind that paths name and routes show, by the prefix of their ids. */
async function idsOf(db: Database, organizationId: string): Promise<Ids> {
  const ids: Record<string, string[]> = { org: [organizationId] };
  for (const [prefix, table] of Object.entries(tables)) {
    const { rows } = await sql<{ id: string }>`
      select id from ${sql.table(table)} t where organization_id = ${fromPublicId('org', organizationId)}
      and to_jsonb(t) ->> 'state' is distinct from 'deleted' order by id limit 20`.execute(db);
    ids[prefix] = rows.map(({ id }) => toPublicId(prefix, id));
  }
  return ids;
}

/** The paths of a document's GET routes, with ids and with the queries that lists need. */
function targets(name: DocumentName, ids: Ids): string[] {
  return Object.entries(openApiDocument(name).paths).flatMap(([path, { get }]) =>
    get === undefined || leftOut.includes(path) ? [] : targetsOf(path, get, ids),
  );
}

function targetsOf(path: string, { parameters = [] }: DocumentedOperation, ids: Ids): string[] {
  let found = [path];
  for (const { name, example } of parameters.filter((each) => each.in === 'path')) {
    const known = ids[String(example).slice(0, 3)];
    if (known === undefined) throw new Error(`every-answer.ts does not know the table of {${name}} in ${path}.`);
    found = found.flatMap((each) => known.map((id) => each.replace(`{${name}}`, id)));
  }
  const values: Record<string, string> = { limit: '100', organization_id: String(ids.org) };
  const query = parameters.flatMap(({ name }) => (name in values ? [`${name}=${values[name]}`] : []));
  return found.map((each) => (query.length === 0 ? each : `${each}?${query.join('&')}`));
}

function preview() {
  const status = ['failed', 'canceled', 'succeeded', 'skipped', 'pending'];
  return { since: new Date(Date.now() - 3_600_000).toISOString(), status, dry_run: true };
}

/** @returns calls with the cookie of a new session of the console, which may see everything */
async function enterConsole(api: ApiListeners, id: string): Promise<ReturnType<typeof createApiClient>['call']> {
  const { call, internal } = createApiClient(api);
  const scopes = ['*', 'keys:read'];
  const { body } = await internal('POST', `/internal/v1/organizations/${id}/console-sessions`, { scopes });
  const header = { 'x-console': '1' };
  const entered = await call('POST', '/console/api/enter', { token: body.url.split('#')[1] }, header);
  const cookie = String(entered.headers['set-cookie']).split(';')[0] as string;
  return (method, path, sent) => call(method, `/console/api/${id}${path}`, sent, { ...header, cookie });
}
