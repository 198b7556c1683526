import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { failingPolicy } from '@enterprise-api/shared/contracts';
import { countInvariantViolations, noteExpiringKeys, noteFailingWebhooks } from '@enterprise-api/shared/ledger';
import { fromPublicId, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import {
  type ApiClient,
  type ApiListeners,
  createApiClient,
  type HttpAnswer,
  startFleet,
  until,
} from '@enterprise-api/testkit';
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import { seededRandom } from '../../bench/stage/random.ts';
import { type Finding, untilSettled } from './finding.ts';
import { apiEvent } from './load.ts';
import { hasToldOfKeys, operationalProblems } from './operational-audit.ts';
import { type FaultStage, openFaultStage, quickLeases, type Stores } from './stage.ts';
import { statisticsProblems } from './statistics-audit.ts';

/** R21: random histories of one organization, compared with a model of what each webhook should have got. */
export interface RandomHistories {
  steps: number;
  seed: number;
  settleWithinMs: number;
}

const types = ['consultation.completed', 'consultation.failed'] as const;
const subscriptions = [['*'], ['consultation.completed'], ['consultation.failed']];
/** A fan-out reads the webhooks before it notes its time, and clocks round to milliseconds. */
const fanOutMs = 5_000;

const operationalTypes = [
  'replay.finished',
  'webhook.failing',
  'webhook.disabled',
  'webhook.recovered',
  'api_key.expiring',
  'api_key.expired',
];
/** A key that is created so many days before its expiry, and some seconds, has one event: this. */
const keyTypes = [
  [0, 'api_key.expired'],
  [1, 'api_key.expiring'],
  [7, 'api_key.expiring'],
] as const;

/** A pause lasts this long, or up to twice as long. */
const pauseMs = 8_000;
/** Every worker acts on a pause within 5 s, also if the notification is lost. The rest is for clocks. */
const pausedWithinMs = 5_500;

interface Configuration {
  /** When the change was sent, and when its answer came. */
  sentAt: number;
  answeredAt: number;
  enabled: boolean;
  events: readonly string[];
  isDeleted?: true;
}

interface ModelWebhook {
  id: string;
  /** The first is the creation. */
  changes: Configuration[];
  /** Events that it skipped may have got deliveries later. */
  replayedSkipped: boolean;
  /** When it was paused for certain, in every worker. */
  pauses: { from: number; until: number }[];
}

interface ModelEvent {
  id: string;
  type: string;
  /** When it was sent. Changes and events are sent one after the other. */
  sentAt: number;
  erased: boolean;
}

export async function liveRandomly(stores: Stores, size: RandomHistories): Promise<Finding> {
  const random = seededRandom(size.seed);
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  await using stage = await openFaultStage(stores, { ...quickLeases, WEBHOOK_RETRY_SCHEDULE: '200ms,200ms' });
  let isRepaired = false;
  let ailing: Ailing | undefined;
  stage.requests.respond(({ path }) => {
    if (path === '/broken') return { status: isRepaired ? 200 : 500 };
    if (path.startsWith('/ailing')) return { status: ailing?.status ?? 200 };
    if (path !== '/flaky' || random() >= 0.3) return { status: 200 };
    return random() < 0.3 ? { status: 429, headers: { 'Retry-After': '1' } } : { status: 500 };
  });
  await using apis = await startFleet(2, () => stage.startApi());
  await using workers = await startFleet(2, () => stage.startWorker());
  const redis = stores.redisUrl === undefined ? undefined : new Redis(stores.redisUrl);
  const { organizationId, ask } = await openAccount(() => apis.members[0] as ApiListeners);
  const operator = await openAccount(() => apis.members[0] as ApiListeners);
  const operatorPath = `/internal/v1/organizations/${operator.organizationId}`;
  await operator.ask((client) => client.internal('PATCH', operatorPath, { operator: true }), [200]);
  await created(operator.ask, stage.url('/operator'), operationalTypes);
  const webhooks: ModelWebhook[] = [];
  const create = async (path: string, sentAt = Date.now()) => {
    const { id } = await created(ask, stage.url(path), ['*']);
    const first = { sentAt, answeredAt: sentAt === 0 ? 0 : Date.now(), enabled: true, events: ['*'] };
    webhooks.push({ id, changes: [first], replayedSkipped: false, pauses: [] });
  };
  const lasting = ['/hook', '/flaky', '/other'];
  for (const path of lasting) await create(path, 0);
  const existing = () => webhooks.filter(({ changes }) => changes.at(-1)?.isDeleted !== true);
  const broken = await createBroken(stage, ask);
  const ill = await createAiling(stage, ask);
  ailing = ill;
  await created(ask, stage.url('/operational'), operationalTypes);
  const events: ModelEvent[] = [];

  const change = async (fields: Partial<Pick<Configuration, 'enabled' | 'events'>>) => {
    const webhook = pick(existing());
    const sentAt = Date.now();
    endPause(webhook, sentAt);
    await ask((client) => client.call('PATCH', `/v1/webhooks/${webhook.id}`, fields), [200]);
    const last = webhook.changes.at(-1) as Configuration;
    webhook.changes.push({ ...last, ...fields, sentAt, answeredAt: Date.now() });
  };
  const remove = async () => {
    const webhook = existing()[lasting.length];
    if (webhook === undefined) return;
    const sentAt = Date.now();
    endPause(webhook, sentAt);
    await ask((client) => client.call('DELETE', `/v1/webhooks/${webhook.id}`), [204, 404]);
    const last = webhook.changes.at(-1) as Configuration;
    webhook.changes.push({ ...last, isDeleted: true, sentAt, answeredAt: Date.now() });
  };
  const keys = new Map<string, string>();
  const createExpiring = async (account: Account) => {
    const [days, type] = pick(keyTypes);
    const expiry = () => new Date(Date.now() + days * 86_400_000 + 3_000 + random() * 5_000).toISOString();
    const path = `/internal/v1/organizations/${account.organizationId}/keys`;
    const fields = () => ({ name: 'expires', scopes: ['*'], expires_at: expiry() });
    const { body } = await account.ask((client) => client.internal('POST', path, fields()), [201]);
    keys.set(body.id, type);
    await noteExpiringKeys(stage.db);
  };
  await createExpiring(operator);
  const emit = async () => {
    const type = pick(types);
    const sentAt = Date.now();
    const event = { ...apiEvent(fromPublicId('org', organizationId) ?? '', `event-${events.length}`), type };
    const { body } = await ask((client) => client.emit([event]), [202]);
    events.push({ id: body.data[0].id, type, sentAt, erased: false });
  };
  const endPause = ({ pauses }: ModelWebhook, at: number) => {
    const last = pauses.at(-1);
    if (last !== undefined) last.until = Math.min(last.until, at);
  };
  const pauseOne = async () => {
    const webhook = pick(existing());
    const until = Date.now() + pauseMs * (1 + random());
    endPause(webhook, Date.now());
    const body = { resume_at: new Date(until).toISOString() };
    const { status } = await ask(
      (client) => client.call('POST', `/v1/webhooks/${webhook.id}/pause`, body),
      [200, 400, 409],
    );
    if (status === 200) webhook.pauses.push({ from: Date.now() + pausedWithinMs, until: Math.floor(until) });
  };
  const resume = async () => {
    const webhook = pick(existing());
    endPause(webhook, Date.now());
    const body = random() < 0.5 ? { rate_per_second: 20 } : {};
    await ask((client) => client.call('POST', `/v1/webhooks/${webhook.id}/resume`, body), [200, 409]);
  };
  const limit = async () => {
    const fields = { rate_limit_per_second: pick([null, 20, 50]), max_in_flight: pick([null, 1, 3]) };
    await ask((client) => client.call('PATCH', `/v1/webhooks/${pick(existing()).id}`, fields), [200]);
  };
  const succeededBefore = new Map<string, Uuid[]>();
  const notRestored: Uuid[] = [];
  let restored = 0;
  const replay = async () => {
    const webhook = pick(existing());
    const status = pick([['failed', 'canceled'], ['succeeded'], ['skipped'], ['failed', 'pending']]);
    webhook.replayedSkipped ||= status.includes('skipped');
    const request = { since: new Date(Date.now() - 3_600_000).toISOString(), status, rate_per_second: 20 };
    const path = `/v1/webhooks/${webhook.id}/replay`;
    const succeeded = (await succeededAt(stage, webhook.id)).map(({ id }) => id);
    const { body } = await ask((client) => client.call('POST', path, request), [202, 409]);
    succeededBefore.set(body.id, succeeded);
  };
  const cancel = async () => {
    const { body } = await ask((client) => client.call('GET', '/v1/webhooks/replays'), [200]);
    const running = body.data.find(({ state }: { state: string }) => state === 'running');
    if (running === undefined) return;
    const before = succeededBefore.get(running.id) ?? [];
    const waiting = (await notSucceeded(stage, before)).length;
    const path = `/v1/webhooks/replays/${running.id}/cancel`;
    const { body: canceled } = await ask((client) => client.call('POST', path), [200]);
    const newest = body.data.find(({ webhook_id }: { webhook_id: string }) => webhook_id === running.webhook_id);
    // A newer replay may have sent the same deliveries.
    if (canceled.state !== 'canceled' || newest.id !== running.id) return;
    const left = await notSucceeded(stage, before);
    restored += waiting - left.length;
    notRestored.push(...left);
  };
  const erase = async () => {
    const event = pick(events);
    event.erased = true;
    const erasure = { organization_id: organizationId, event_ids: [event.id] };
    await ask((client) => client.internal('POST', '/internal/v1/erasures', erasure), [202]);
  };
  const kill = async () => {
    await Promise.all([apis.crash(0), workers.crash(random() < 0.5 ? 0 : 1), redis?.flushdb()]);
  };
  const ail = () => {
    ill.status = pick([ill.status, 200, 500, 410]);
    return pick([() => ill.age(pick([25, 150])), ill.move, () => ill.patch({ enabled: random() < 0.7 })])();
  };
  const steps: [share: number, step: () => Promise<void>][] = [
    [0.46, emit],
    [0.54, ail],
    [0.57, pauseOne],
    [0.58, resume],
    [0.6, limit],
    [0.61, () => create('/later')],
    [0.62, remove],
    [0.63, () => createExpiring({ organizationId, ask })],
    [0.72, () => change({ events: pick(subscriptions) })],
    [0.84, () => change({ enabled: random() < 0.6 })],
    [0.9, replay],
    [0.93, cancel],
    [0.97, erase],
    [1, kill],
  ];
  await emit();
  for (let count = 0; count < size.steps; count += 1) {
    const place = random();
    await steps.find(([share]) => place < share)?.[1]();
    await pause(random() * 20);
  }
  redis?.disconnect();
  isRepaired = true;
  await failAndMove(stage, ill, emit, size.settleWithinMs);
  await recover(stage, ask, broken, size.settleWithinMs);
  await untilSettled(stage, 0, size.settleWithinMs);
  const areKeysTold = async () => {
    await noteExpiringKeys(stage.db);
    return hasToldOfKeys(stage, keys);
  };
  await until('events about all keys', areKeysTold, { withinMs: size.settleWithinMs, everyMs: 500 });
  await untilReplaysEnd(stage, size.settleWithinMs);
  await untilSettled(stage, 0, size.settleWithinMs);

  const wrong: string[] = [];
  let certain = 0;
  for (const event of events) {
    const { body } = await ask((client) => client.call('GET', `/v1/events/${event.id}/explain`), [200]);
    const explained = new Map<string, Explained>(body.data.map((each: Explained) => [each.webhook_id, each]));
    for (const webhook of webhooks) {
      const explanation = explained.get(webhook.id);
      certain += explanation?.certain ? 1 : 0;
      const problem = judge(webhook, event, Date.parse(body.fanned_out_at), explanation);
      if (problem !== undefined) wrong.push(`${event.id} at ${webhook.id}: ${problem}`);
    }
  }
  const statistics = await statisticsProblems(
    stage,
    fromPublicId('org', organizationId) as Uuid,
    async (path) => (await ask((client) => client.call('GET', path), [200])).body,
  );
  const operatorId = fromPublicId('org', operator.organizationId) as Uuid;
  const notices = [
    ...(await operationalProblems(stage, operatorId, keys)),
    ...(await wrongNotices(stage, [broken, ill.id])),
  ];
  const missed = await missedBy(stage, broken, events);
  const early = await attemptsDuringPauses(stage, webhooks);
  const violations = await countInvariantViolations(stage.db, 1_000_000);
  await Promise.all([apis.stop(), workers.stop()]);
  const lost = wrong.filter((problem) => problem.endsWith('lost')).length + missed;
  const checks: Record<string, boolean> = {
    [`seed ${size.seed}: ${wrong.slice(0, 5).join('; ')}`]: wrong.length === 0,
    [`only ${certain} certain explanations`]: certain > events.length,
    [`statistics: ${statistics.slice(0, 5).join('; ')}`]: statistics.length === 0,
    [`${notRestored.length} deliveries did not succeed again after a canceled replay`]: notRestored.length === 0,
    [`operational events: ${notices.slice(0, 5).join('; ')}`]: notices.length === 0,
    [`the recovered webhook missed ${missed} events`]: missed === 0,
    [`${early} attempts began during a pause`]: early === 0,
    [`${violations} rows break the invariant`]: violations === 0,
  };
  return {
    lost,
    duplicates: stage.requests.duplicates(),
    figures: {
      events: events.length,
      'certain explanations': certain,
      webhooks: webhooks.length,
      keys: keys.size,
      'restored by canceling': restored,
      kills: workers.kills.length,
      seed: size.seed,
    },
    broken: Object.entries(checks).flatMap(([what, holds]) => (holds ? [] : [what])),
  };
}

type Ask = (send: (client: ApiClient) => Promise<HttpAnswer>, statuses: readonly number[]) => Promise<HttpAnswer>;

interface Account {
  organizationId: string;
  ask: Ask;
}

/** A customer who repeats each request until it gets one of the expected answers. Every request may be repeated. */
async function openAccount(api: () => ApiListeners): Promise<Account> {
  const client = createApiClient(api());
  const { id: organizationId } = await client.createOrganization();
  const { secret: key } = await client.createKey(organizationId);
  const ask: Ask = async (send, statuses) => {
    // An API that was killed gives no answer.
    const tried = () => send(createApiClient(api(), { key })).catch((error: Error) => error);
    const holds = (answer: HttpAnswer | Error) => 'status' in answer && statuses.includes(answer.status);
    const answer = await until(`an answer ${statuses.join()}`, tried, { holds, withinMs: 120_000, everyMs: 50 });
    return answer as HttpAnswer;
  };
  return { organizationId, ask };
}

async function created(ask: Ask, url: string, events: string[], others: object = {}): Promise<{ id: string }> {
  const headers = { 'idempotency-key': randomUUID() };
  const body = { url, events, ...others };
  return (await ask((client) => client.call('POST', '/v1/webhooks', body, headers), [201])).body;
}

/** A webhook that fails for so long that its next failure disables it. */
async function createBroken(stage: FaultStage, ask: Ask): Promise<string> {
  const { id } = await created(ask, stage.url('/broken'), ['*'], { auto_recover: true });
  await sql`insert into webhook_health (webhook_id, failed_attempts, first_failure_at)
    values (${fromPublicId('whk', id)}, 20, now() - interval '6 days')`.execute(stage.db);
  return id;
}

/** A webhook that answers as told. It fails for hours that pass at once, moves, and is disabled and enabled. */
interface Ailing {
  id: string;
  status: number;
  patch(fields: object): Promise<void>;
  move(): Promise<void>;
  age(hours: number): Promise<void>;
}

async function createAiling(stage: FaultStage, ask: Ask): Promise<Ailing> {
  const { id } = await created(ask, stage.url('/ailing'), ['*']);
  const patch = async (fields: object) =>
    void (await ask((client) => client.call('PATCH', `/v1/webhooks/${id}`, fields), [200]));
  let moves = 0;
  const move = () => {
    moves += 1;
    return patch({ url: stage.url(`/ailing?${moves}`) });
  };
  const age = async (hours: number) => {
    await sql`update webhook_health set failed_attempts = 20, first_failure_at = now() - make_interval(hours => ${hours})
      where webhook_id = ${fromPublicId('whk', id)} and first_failure_at is not null`.execute(stage.db);
    await noteFailingWebhooks(stage.db, failingPolicy);
  };
  return { id, status: 200, patch, move, age };
}

/** At the end, the webhook fails for a day, is told of, and succeeds at another URL. */
async function failAndMove(stage: FaultStage, ill: Ailing, emit: () => Promise<void>, withinMs: number): Promise<void> {
  ill.status = 500;
  for (const enabled of [false, true]) await ill.patch({ enabled });
  const latest = async () => {
    await emit();
    await ill.age(25);
    return (await noticesOf(stage, ill.id)).at(-1)?.type;
  };
  await until('webhook.failing', latest, { holds: (type) => type === 'webhook.failing', withinMs, everyMs: 500 });
  ill.status = 200;
  await ill.move();
  await emit();
}

/** The webhook is repaired: its probe enables it, and a replay sends what it missed. An hour passes at once. */
async function recover(stage: FaultStage, ask: Ask, id: string, withinMs: number): Promise<void> {
  const isRecovered = async () => {
    await sql`update pending_deliveries set next_attempt_at = now() where test and lease_count = 0`.execute(stage.db);
    const probed = await stage.db.selectFrom('deliveries').select('status').where('test', '=', true).execute();
    const { body } = await ask((client) => client.call('GET', `/v1/webhooks/${id}`), [200]);
    return body.enabled && probed.some(({ status }) => status === 'succeeded');
  };
  await until('the recovery', isRecovered, { withinMs, everyMs: 500 });
  const request = {
    since: new Date(Date.now() - 3_600_000).toISOString(),
    status: ['skipped', 'failed', 'canceled'],
  };
  await ask((client) => client.call('POST', `/v1/webhooks/${id}/replay`, request), [202]);
}

function succeededAt(stage: FaultStage, webhookId: string): Promise<{ id: Uuid; event_id: Uuid }[]> {
  return stage.db
    .selectFrom('deliveries')
    .select(['id', 'event_id'])
    .where('webhook_id', '=', fromPublicId('whk', webhookId) as Uuid)
    .where('status', '=', 'succeeded')
    .execute();
}

/** Of these deliveries, the ones that wait, or that canceling a replay canceled. */
async function notSucceeded(stage: FaultStage, ids: Uuid[]): Promise<Uuid[]> {
  const { rows } = await sql<{ id: Uuid }>`
    select id from deliveries where id = any (${ids}::uuid[])
      and (status = 'pending' or canceled_reason = 'replay_canceled')`.execute(stage.db);
  return rows.map(({ id }) => id);
}

/** How many events the recovered webhook never got. */
async function missedBy(stage: FaultStage, id: string, events: readonly ModelEvent[]): Promise<number> {
  const ids = new Set((await succeededAt(stage, id)).map(({ event_id }) => toPublicId('evt', event_id)));
  return events.filter((event) => !event.erased && !ids.has(event.id as never)).length;
}

interface Explained {
  webhook_id: string;
  outcome: string;
  reason: string | null;
  certain: boolean;
}

/** @returns what is wrong with an explanation; undefined if it is one that the model allows */
function judge(
  { changes, replayedSkipped }: ModelWebhook,
  { type, sentAt: eventSentAt, erased }: ModelEvent,
  fannedOutAt: number,
  explanation: Explained | undefined,
): string | undefined {
  const isLater = (changes[0] as Configuration).sentAt > eventSentAt;
  const deletedAt = changes.find(({ isDeleted }) => isDeleted)?.sentAt;
  const isDeletedBefore = deletedAt !== undefined && deletedAt < eventSentAt;
  if (isDeletedBefore || explanation === undefined) {
    if (isDeletedBefore && explanation !== undefined) return 'explained after the webhook was deleted';
    return isDeletedBefore || (isLater && deletedAt !== undefined) ? undefined : 'no explanation';
  }
  const { outcome, reason, certain } = explanation;
  // An event that was erased before its fan-out has no time of fan-out.
  if (Number.isNaN(fannedOutAt)) return erased ? undefined : 'never fanned out';
  const inForce = changes.filter(({ sentAt }, index) => {
    const next = changes[index + 1];
    return sentAt <= fannedOutAt && (next === undefined || next.answeredAt >= fannedOutAt - fanOutMs);
  });
  const possible = new Set<string | null>(inForce.map((configuration) => judgeOf(configuration, type)));
  if (outcome === 'skipped') {
    if (isLater) return reason === 'created_later' ? undefined : `skipped as ${reason}, not created_later`;
    if (possible.size === 1 && possible.has('delivery')) return 'lost';
    return certain && !possible.has(reason) ? `skipped as ${reason}, not ${[...possible].join()}` : undefined;
  }
  return possible.has('delivery') || (replayedSkipped && !isLater)
    ? undefined
    : `${outcome}, not ${[...possible].join()}`;
}

type Judgement = 'delivery' | 'deleted' | 'disabled' | 'not_subscribed';

function judgeOf({ enabled, events, isDeleted }: Configuration, type: string): Judgement {
  if (isDeleted) return 'deleted';
  if (!enabled) return 'disabled';
  const matches = events.some((pattern) => pattern === '*' || pattern === type);
  return matches ? 'delivery' : 'not_subscribed';
}

async function untilReplaysEnd(stage: FaultStage, withinMs: number): Promise<void> {
  const running = () => sql`select from replays where completed_at is null`.execute(stage.db);
  await until('no replay runs', running, { holds: ({ rows }) => rows.length === 0, withinMs, everyMs: 200 });
}

interface Notice {
  about: string;
  type: string;
  cause: string;
}

/** The operational events about a webhook, the oldest first. */
async function noticesOf(stage: FaultStage, id: string): Promise<Notice[]> {
  const { rows } = await sql<Notice>`
    select o.about, e.type, b.body::jsonb -> 'data' ->> 'cause' as cause
    from operational_events o join events e on e.id = o.event_id join event_bodies b on b.event_id = e.id
    where o.about = ${fromPublicId('whk', id)} order by o.event_id`.execute(stage.db);
  return rows;
}

const linesOf = (notices: readonly Notice[]) =>
  notices
    .map(({ type, cause }) => `${type} ${cause}`)
    .sort()
    .join();

/**
 * Compares the events about webhooks with the audit log: each one that a worker disabled, or that was enabled after. Each
 * `webhook.recovered` ends a failure, and these webhooks have all recovered.
 */
async function wrongNotices(stage: FaultStage, ids: readonly string[]): Promise<string[]> {
  const { rows: audited } = await sql<Notice>`
    select object_id as about, case when action = 'webhook.disabled' then action else 'webhook.recovered' end as type,
      case action when 'webhook.disabled' then changes -> 'disabled_reason' ->> 'to' when 'webhook.recovered' then 'probe'
        else 'enabled' end as cause
    from audit_log where action = 'webhook.disabled' or (
      changes -> 'disabled_reason' ->> 'from' in ('failing', 'gone') and changes -> 'enabled' ->> 'to' = 'true')`.execute(
    stage.db,
  );
  const wrong: string[] = [];
  for (const id of ids) {
    const told = await noticesOf(stage, id);
    const actions = told.filter(({ type, cause }) => type !== 'webhook.failing' && cause !== 'succeeded');
    const expected = audited.filter(({ about }) => about === fromPublicId('whk', id));
    const [found, due] = [linesOf(actions), linesOf(expected)];
    if (found !== due) wrong.push(`told ${found} for ${due}`);
    const isRecovered = (each: Notice | undefined) => each === undefined || each.type === 'webhook.recovered';
    const causeless = told.filter((each, index) => isRecovered(each) && isRecovered(told[index - 1]));
    if (causeless.length > 0) wrong.push(`${causeless.length} recovered without a failure`);
    if (told.at(-1)?.type !== 'webhook.recovered') wrong.push(`the latest is ${told.at(-1)?.type}`);
  }
  return wrong;
}

async function attemptsDuringPauses(stage: FaultStage, webhooks: readonly ModelWebhook[]): Promise<number> {
  const pauses = webhooks.flatMap(({ id, pauses }) =>
    pauses.map(({ from, until }) => ({ id: fromPublicId('whk', id), from: new Date(from), until: new Date(until) })),
  );
  const { rows } = await sql<{ attempts: number }>`
    select count(*)::int as attempts from unnest(${pauses.map(({ id }) => id)}::uuid[],
      ${pauses.map(({ from }) => from.toISOString())}::timestamptz[],
      ${pauses.map(({ until }) => until.toISOString())}::timestamptz[]) as p (webhook_id, start, until)
    join deliveries d on d.webhook_id = p.webhook_id join all_attempts a on a.delivery_id = d.id
    where a.started_at > p.start and a.started_at < p.until`.execute(stage.db);
  return rows[0]?.attempts ?? 0;
}
