import { randomInt, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { countInvariantViolations, createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { createJobProducer, selectQueueBackend } from '@enterprise-api/shared/queue';
import { fromPublicId, newUuid } from '@enterprise-api/shared/runtime';
import {
  type ApiListeners,
  createApiClient,
  type Fleet,
  inParallel,
  startFleet,
  startStandby,
  steadily,
  until,
} from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { databaseRows, findSecrets, type SearchedPlaces, watchRedis } from '../security/searched-places.ts';
import { everyAnswer, type Repeat } from './every-answer.ts';
import type { Finding } from './finding.ts';
import { apiEvent, post } from './load.ts';
import { type FaultStage, openFaultStage, quickLeases, type Stores } from './stage.ts';

const minuteMs = 60_000;
const wholeEvents = 200;

/** R20: a subject is erased and an organization closed under load, while processes and stores are killed. */
export interface ErasedData {
  events: number;
  kills: number;
  eventsPerSecond: number;
  settleWithinMs: number;
}

export async function eraseUnderLoad(stores: Stores, size: ErasedData): Promise<Finding> {
  const { postgres } = stores;
  if (!postgres) throw new Error('This campaign kills a PostgreSQL: it needs one of its own.');
  await using stage = await openFaultStage(stores, {
    ...quickLeases,
    WEBHOOK_RETRY_SCHEDULE: '1s,24h',
    LOG_LEVEL: 'info',
  });
  // The receiver of erased data fails and repeats what it got. The other one is gone, of which operators get a copy.
  stage.requests.respond(({ path }, { body, headers }) => {
    const own = Object.entries(headers).filter(([name]) => name.startsWith('x-'));
    if (path.startsWith('/echo')) return { status: 500, body: `${JSON.stringify(own)} ${String(body)}` };
    return path.startsWith('/gone') ? { status: 410 } : {};
  });
  await using standby = await startStandby(postgres);
  const lines: string[] = [];
  const onLine = (line: string) => void lines.push(line);
  const apiSettings = {
    INTERNAL_QUEUE_BOARD: 'true',
    DATABASE_REPLICA_URL: standby.url,
    API_TRUSTED_PROXIES: '127.0.0.1',
    CONSOLE_PUBLIC_URL: 'https://console.example.test',
  };
  await using apis = await startFleet(2, () => stage.startApi(apiSettings, { onLine }));
  await using workers = await startFleet(2, () => stage.startWorker({}, { onLine }));
  const api = () => apis.members[0] as ApiListeners;
  const bystander = await stage.subscribe(['/hook']);
  const { createOrganization, internal } = createApiClient(api());
  await internal('PATCH', `/internal/v1/organizations/${(await createOrganization()).id}`, { operator: true });
  const erased = await createOwner(stage, api(), size.events);
  const closed = await createOwner(stage, api(), size.events);
  // An erased subject leaves the names of its organization.
  const canaries = { ...pick(erased.canaries, /^(subject|data|request id)/), ...closed.canaries };
  const before = findSecrets(await databaseRows(stage.db), canaries);
  const hidden = Object.keys(canaries).filter((name) => !before.some((found) => found.startsWith(name)));

  await sql`analyze`.execute(stage.db);
  const load = startLoad(api, bystander.organizationId, size.eventsPerSecond);
  for (const owner of [erased, closed]) await enqueue(stage, stores, owner);
  await forget(api(), erased, closed);
  await using _restarted = await kill({ apis, workers }, stores, size.kills);
  await until('all is erased', () => isErased(stage.db), { withinMs: size.settleWithinMs, everyMs: 200 });
  const emitted = await load.stop();
  const sent = await untilSent(stage, bystander.organizationId, emitted, size.settleWithinMs);
  const streams = await streamsOf(apis.members, erased);
  const answers = await everyAnswer(stage.db, api(), erased, closed);

  await sql`analyze`.execute(stage.db);
  await sql`vacuum full`.execute(stage.db);
  await sql`checkpoint`.execute(stage.db);
  const places: SearchedPlaces = new Map([
    ...(await databaseRows(stage.db)),
    ['pg_statistic', await statistics(stage.db)],
    ['logs', lines.join('\n')],
    ...streams,
    ...(await replicaRows(stage.db, standby.url)),
    ...answers,
    ...(await metricsOf([...apis.members, ...workers.members])),
    ...(await redisKeys(stores.redisUrl)),
  ]);
  const violations = await countInvariantViolations(stage.db, 1_000_000);
  await Promise.all([apis.stop(), workers.stop()]);
  await postgres.stop();
  await standby.stop();
  for (const { folder } of [postgres, standby]) for (const [name, text] of filesOf(folder)) places.set(name, text);
  await postgres.start();
  // Requests are logged with their address, requests and attempts with the caller's request id, and audited actions
  // with the id and the actor.
  const found = findSecrets(places, canaries).filter(
    (each) => !/^(audited .+|request id|outside address) of \S+ in logs$/.test(each),
  );
  const checks: Record<string, boolean> = {
    [`${hidden.join()} never in the ledger`]: hidden.length === 0,
    [`found: ${found.join('; ')}`]: found.length === 0,
    [`${emitted - sent} events of another organization lost`]: sent === emitted,
    [`${violations} rows break the invariant`]: violations === 0,
  };
  return {
    lost: emitted - sent,
    duplicates: stage.requests.duplicates(),
    figures: { 'events erased': 2 * size.events, deliveries: emitted, kills: size.kills, places: places.size },
    broken: Object.entries(checks).flatMap(([what, holds]) => (holds ? [] : [what])),
  };
}

interface Owner {
  id: string;
  key: string;
  subject: string;
  /** In the data of its events. */
  text: string;
  firstEventId: string;
  /** Requests whose answers the API keeps. */
  repeats: Repeat[];
  canaries: Record<string, string>;
}

/** An organization with a canary in each field that a caller or a receiver fills, and events with attempts. */
async function createOwner(stage: FaultStage, api: ApiListeners, events: number): Promise<Owner> {
  const made: Record<string, string> = {};
  const canary = (name: string) => {
    made[name] = `canary${randomUUID().replaceAll('-', '')}`;
    return made[name];
  };
  const subject = canary('subject');
  const client = createApiClient(api);
  const address = (name: string) => {
    const groups = Array.from({ length: 6 }, () => randomInt(0x1000, 0x10000).toString(16));
    made[name] = `2001:db8:${groups.join(':')}`;
    return made[name];
  };
  const named = { name: canary('name'), plan: 'enterprise', external_id: canary('external id') };
  const audited = { 'x-request-id': canary('audited request id'), 'x-actor': canary('audited actor') };
  const { id } = (await client.internal('POST', '/internal/v1/organizations', named, audited)).body;
  const { secret: key } = await client.createKey(id, {
    name: canary('key name'),
    ip_allowlist: [address('allowlist')],
    ip_allowlist_mode: 'report',
  });
  const customer = createApiClient(api, { key });
  const from = { 'x-forwarded-for': address('outside address'), 'user-agent': canary('user agent') };
  await customer.call('GET', '/v1/me', undefined, from);
  const path = `/console/${id}/deliveries?subject=${subject}`;
  await customer.call('POST', '/v1/console-sessions', { label: canary('session label'), path });
  await customer.createWebhook(stage.url(`/echo/${canary('url')}`), {
    description: canary('description'),
    headers: { [`x-${canary('header name')}`]: canary('header value') },
  });
  await customer.createWebhook(stage.url('/gone'), { description: canary('copied') });
  const paused = { url: stage.url('/paused'), events: ['*'], description: canary('stored answer') };
  const { body: webhook } = await customer.call('POST', '/v1/webhooks', paused, { 'idempotency-key': randomUUID() });
  await customer.call('POST', `/v1/webhooks/${webhook.id}/pause`, { reason: canary('pause reason') });
  const text = canary('data');
  const all = Array.from({ length: events }, (_, n) => ({
    ...apiEvent(fromPublicId('org', id) ?? '', `${subject}.${n}`),
    data: { consultation_id: subject, text },
  }));
  const requested = { 'x-request-id': canary('request id') };
  const repeats: Repeat[] = [];
  const ask = async (path: string, body?: object, headers = {}) => {
    const kept = { 'idempotency-key': randomUUID() };
    repeats.push({ path, ...(body && { body }), headers: kept });
    const call = path.startsWith('/internal') ? client.internal : customer.call;
    const answer = await call('POST', path, body, { ...kept, ...headers });
    if (answer.status > 202) throw new Error(`POST ${path} was answered with ${answer.status}: ${answer.text}`);
    return answer;
  };
  const { id: kept } = await customer.createWebhook(stage.url('/kept'));
  const [first] = (await ask('/internal/v1/events', { events: all }, requested)).body.data;
  const sent = await until('two deliveries', () => customer.deliveries(`&status=succeeded&webhook_id=${kept}`), {
    holds: (found) => found.length > 1,
    withinMs: minuteMs,
  });
  for (const [n, path] of ['/v1/webhooks/deliveries', '/internal/v1/deliveries'].entries()) {
    const { text: answer } = await ask(`${path}/${sent[n]?.id}/retry`);
    if (!answer.includes(subject)) throw new Error('The answer to a retry does not show the subject.');
  }
  await ask(`/v1/webhooks/${kept}/replay`, { since: new Date(Date.now() - minuteMs).toISOString() });
  const failed = () => sql`select from all_attempts where excerpt like ${`%${text}%`} limit 1`.execute(stage.db);
  const written = [
    failed,
    () => sql`select from operational_events where about = ${fromPublicId('org', id)}`.execute(stage.db),
    () => sql`select from api_keys where ${made['outside address']} = any (outside_addresses)`.execute(stage.db),
  ];
  for (const look of written)
    await until('an attempt, a copy and an address', look, { holds: ({ rows }) => rows.length > 0, withinMs: 60_000 });
  return {
    id,
    key,
    subject,
    text,
    firstEventId: first.id,
    repeats,
    canaries: Object.fromEntries(Object.entries(made).map(([name, word]) => [`${name} of ${id}`, word])),
  };
}

function pick(canaries: Record<string, string>, names: RegExp): Record<string, string> {
  return Object.fromEntries(Object.entries(canaries).filter(([name]) => names.test(name)));
}

/** Emits until it is stopped; an event that was not accepted is emitted again. `stop` returns how many there are. */
function startLoad(api: () => ApiListeners, organizationId: string, perSecond: number) {
  const unanswered: string[] = [];
  let emitted = 0;
  const emit = async (key: string) => (await post(api().internalUrl, [apiEvent(organizationId, key)])).status === 202;
  const load = steadily(perSecond, async () => {
    emitted += 1;
    const key = `event-${emitted}`;
    if (!(await emit(key))) unanswered.push(key);
  });
  const stop = async () => {
    await load.stop();
    await inParallel(unanswered, 2, async (key) => {
      await until(`${key} is accepted`, () => emit(key), { withinMs: 60_000 });
    });
    return emitted;
  };
  return { stop };
}

/** Adds whole events to the queue: the workers write some of them before they are erased. */
async function enqueue({ databaseUrl }: FaultStage, { redisUrl }: Stores, { id, subject, text }: Owner): Promise<void> {
  const producer = createJobProducer(selectQueueBackend({ redisUrl, databaseUrl }), 'writeEvent', () => undefined);
  for (let n = 0; n < wholeEvents; n += 1) {
    const event = {
      organization_id: id,
      type: 'consultation.completed' as const,
      data: { consultation_id: subject, text },
    };
    await producer.add({ version: 1, event_id: newUuid(), event });
  }
  await producer.close();
}

async function forget(api: ApiListeners, erased: Owner, closed: Owner): Promise<void> {
  const { internal } = createApiClient(api);
  const answers = [
    await internal('POST', '/internal/v1/erasures', { organization_id: erased.id, subject: erased.subject }),
    await internal('POST', `/internal/v1/organizations/${closed.id}/close`, { confirm: closed.id }),
  ];
  const statuses = answers.map(({ status }) => status).join();
  if (statuses !== '202,202') throw new Error(`Erasing and closing were answered with ${statuses}.`);
}

/** Kills an API and a worker in turn, and each store in the middle. Returns the Redis that was started then. */
async function kill({ apis, workers }: Record<'apis' | 'workers', Fleet>, stores: Stores, kills: number) {
  let redis: AsyncDisposable | undefined;
  for (let time = 0; time < kills; time += 1) {
    await Promise.all([apis.crash(time % 2), workers.crash(time % 2)]);
    if (time !== Math.floor(kills / 2)) continue;
    await stores.postgres?.crash();
    await stores.postgres?.start();
    redis = await stores.redis?.restart();
  }
  return redis;
}

async function isErased(db: Database): Promise<boolean> {
  try {
    const { rows } = await sql`
      select from erasures where completed_at is null union all select from organizations where state = 'closing'`.execute(
      db,
    );
    return rows.length === 0;
  } catch {
    return false;
  }
}

async function untilSent(stage: FaultStage, organizationId: string, events: number, withinMs: number): Promise<number> {
  const count = async () => {
    const { rows } = await sql<{ sent: number }>`
      select count(*) as sent from deliveries where organization_id = ${organizationId} and status = 'succeeded'`.execute(
      stage.db,
    );
    return rows[0]?.sent ?? 0;
  };
  return until('the deliveries of the other organization', count, {
    holds: (sent) => sent >= events,
    withinMs,
    everyMs: 100,
  });
}

async function statistics(db: Database): Promise<string> {
  const { rows } = await sql<{ row: string }>`select s::text as row from pg_statistic s`.execute(db);
  return rows.map(({ row }) => row).join('\n');
}

async function metricsOf(processes: readonly ApiListeners[]): Promise<SearchedPlaces> {
  const places: SearchedPlaces = new Map();
  for (const { internalUrl } of processes)
    places.set(`metrics of ${internalUrl}`, await (await fetch(`${internalUrl}/metrics`)).text());
  return places;
}

/** What a stream of each process sends after the first erased event, up to an event that is emitted now. */
async function streamsOf(apis: readonly ApiListeners[], { id, key, firstEventId }: Owner): Promise<SearchedPlaces> {
  const places: SearchedPlaces = new Map();
  for (const api of apis) {
    const event = { ...apiEvent(fromPublicId('org', id) ?? '', randomUUID()), data: { consultation_id: 'later' } };
    const [later] = (await createApiClient(api).emit([event])).body.data;
    const url = `${api.url}/v1/events/stream?after=${firstEventId}`;
    const answer = await fetch(url, {
      headers: { Authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(minuteMs),
    });
    let text = '';
    for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (text.includes(later.id)) break;
    }
    if (!text.includes(later.id)) throw new Error(`A stream ended with ${answer.status} before the last event.`);
    places.set(`stream of ${api.url}`, text);
  }
  return places;
}

/** Every row of the replica, once it has replayed everything. */
async function replicaRows(primary: Database, url: string): Promise<SearchedPlaces> {
  const { rows } = await sql<{ lsn: string }>`select pg_current_wal_lsn()::text as lsn`.execute(primary);
  const replica = createDatabase({ url, applicationName: 'search', poolSize: 1, onError: () => undefined });
  const isReplayed = sql<{ done: boolean }>`select pg_last_wal_replay_lsn() >= ${rows[0]?.lsn}::pg_lsn as done`;
  await until('the replica has replayed all', async () => (await isReplayed.execute(replica)).rows[0]?.done);
  const found = new Map([...(await databaseRows(replica))].map(([name, text]) => [`replica: ${name}`, text]));
  await replica.destroy();
  return found;
}

async function redisKeys(redisUrl: string | undefined): Promise<SearchedPlaces> {
  if (redisUrl === undefined) return new Map();
  const watch = await watchRedis(redisUrl);
  const places = await watch.read();
  watch.close();
  return places;
}

/** The files of the tables, without the write-ahead log and the server's own log. */
function filesOf(folder: string): SearchedPlaces {
  const base = join(folder, 'base');
  const files = readdirSync(base, { recursive: true }).map((name) => join(base, String(name)));
  return new Map(files.filter((file) => statSync(file).isFile()).map((file) => [file, readFileSync(file, 'latin1')]));
}
