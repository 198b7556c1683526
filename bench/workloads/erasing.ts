import { toPublicId } from '@enterprise-api/shared/runtime';
import { createApiClient, quantile, until } from '@enterprise-api/testkit';
import { type RawBuilder, sql } from 'kysely';
import { nowMs } from '../clock.ts';
import { deliver } from '../measure/deliver.ts';
import { summarize } from '../measure/figures.ts';
import { latencies } from '../measure/latency.ts';
import { emission } from '../stage/emission.ts';
import { fillWithEvents } from '../stage/fill-events.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

/** What happens to another organization. */
interface Change {
  /** Every n-th of its deliveries is pending before. */
  pendingEvery: number;
  request: (organizationId: string) => [path: string, body: object];
  /** How many of its events or deliveries have changed. The organization is `o`. */
  changed: RawBuilder<number>;
  isOver: RawBuilder<boolean>;
}

/** W13: the latency of one organization's deliveries without and with an erasure of another's events. */
export function erasing(context: RunContext): Promise<Finding> {
  return besideOthers(context, {
    pendingEvery: 10,
    request: (id) => ['/internal/v1/erasures', { organization_id: id, subject: 'con_1' }],
    changed: sql`(select (counts->>'events')::int from erasures where organization_id = o.id)`,
    isOver: sql`exists (select from erasures where organization_id = o.id and completed_at is not null)`,
  });
}

/** W13c: the same beside the closing of an organization whose deliveries are all pending. */
export function closing(context: RunContext): Promise<Finding> {
  const canceled = sql<number>`(select count(*) from webhooks w
    join deliveries d on d.webhook_id = w.id and d.status = 'canceled' where w.organization_id = o.id)`;
  return besideOthers(context, {
    pendingEvery: 1,
    request: (id) => [`/internal/v1/organizations/${id}/close`, { confirm: id, erase_after: 86_400 }],
    changed: canceled,
    isOver: sql`o.state = 'closing'`,
  });
}

const webhooksPerEvent = 1;
const loadSeconds = 4;
const rounds = 3;
const kinds = ['full', 'half'] as const;
type Kind = (typeof kinds)[number];
type Part = 'without' | 'with';

/** Loads without and with the change follow each other three times; each time another organization changes. */
async function besideOthers({ lab, sizes, setting }: RunContext, change: Change): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting });
  const shape = { organizations: 1 + rounds, webhooks: webhooksPerEvent };
  const { organizationIds, webhookIds } = await subscribe(stage.db, lab.receiverPort, shape);
  const [sound = '', ...others] = organizationIds;
  const events = Math.ceil(sizes.erased / others.length);
  for (const [place, organizationId] of others.entries()) {
    const webhookId = webhookIds[1 + place] ?? '';
    await fillWithEvents(stage.db, { organizationId, webhookId, events, pendingEvery: change.pendingEvery });
  }
  const loads = await findLoads(stage, sound, sizes.warmUp);
  const problems: string[] = [];
  const found = new Map<string, number[]>();
  const note = (name: string, value: number) => found.set(name, [...(found.get(name) ?? []), value]);
  const measure = async (kind: Kind, part: () => Part | undefined) => {
    const delivered = await deliver(stage, loads[kind], { webhooksPerEvent });
    problems.push(...delivered.problems);
    const values = latencies(delivered.load, delivered.received);
    const name = part();
    if (name !== undefined)
      for (const percent of [50, 99]) note(`${kind}_p${percent}_${name}`, quantile(values, percent / 100));
  };
  for (const organizationId of others) {
    // The load after a silence is slower.
    await measure('full', () => undefined);
    for (const kind of [...kinds, ...kinds]) await measure(kind, () => 'without');
    const running = await begin(stage, change, organizationId, events);
    for (let turn = 0; running.changedAt() === Number.POSITIVE_INFINITY; turn++) {
      const isWhole = () => running.changedAt() === Number.POSITIVE_INFINITY || turn === 0;
      await measure(kinds[turn % kinds.length] ?? 'half', () => (isWhole() ? 'with' : undefined));
    }
    await running.over;
    note('per_second', (events * 1_000) / (running.changedAt() - running.startedAt));
    note('seconds', (nowMs() - running.startedAt) / 1_000);
  }
  return { figures: { events, ...figuresOf(found) }, problems };
}

/** The medians; a percentile has one value for each load. */
function figuresOf(found: ReadonlyMap<string, number[]>): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const [name, values] of found) figures[name] = summarize(values)?.median ?? Number.NaN;
  for (const name of found.keys()) {
    const without = figures[name.replace(/with$/, 'without')];
    if (name.endsWith('_with') && without) figures[name.replace(/with$/, 'ratio')] = (figures[name] ?? 0) / without;
  }
  return figures;
}

/** A closed load of the whole capacity, and an open one of half of it. */
async function findLoads(stage: BenchStage, organizationId: string, warmUp: number) {
  const { closed, open } = emission(stage, [organizationId]);
  await deliver(stage, closed(warmUp, 50), { webhooksPerEvent });
  const { deliveries, seconds } = await deliver(stage, closed(Math.ceil(warmUp / 2), 50), { webhooksPerEvent });
  const rate = deliveries / seconds;
  return { full: closed(Math.ceil(rate * loadSeconds), 50), half: open(rate / 2, loadSeconds) };
}

async function begin({ api, db }: BenchStage, change: Change, organizationId: string, events: number) {
  const startedAt = nowMs();
  const [path, body] = change.request(toPublicId('org', organizationId));
  const { status } = await createApiClient(api).internal('POST', path, body);
  if (status !== 202) throw new Error(`${path} was answered with ${status}.`);
  let changedAt = Number.POSITIVE_INFINITY;
  const ask = async () => {
    const { rows } = await sql<{ changed: number; over: boolean }>`
      select ${change.changed} as changed, ${change.isOver} as over from organizations o where id = ${organizationId}`.execute(
      db,
    );
    if (changedAt === Number.POSITIVE_INFINITY && (rows[0]?.changed ?? 0) >= events) changedAt = nowMs();
    return changedAt < Number.POSITIVE_INFINITY && rows[0]?.over;
  };
  const over = until('the change is over', ask, { withinMs: 3_600_000, everyMs: 200 });
  return { startedAt, changedAt: () => changedAt, over };
}
