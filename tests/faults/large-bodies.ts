import {
  insertEvents,
  insertOrganization,
  readMetric,
  residentMemory,
  type ServiceProcess,
  startReceiverProcess,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { type Finding, untilSettled } from './finding.ts';
import { isDelayed, type Latency, type LatencyLimit, measureLatencyOf, ratioOf } from './latency.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** Deliveries of different large events of one organization hang, while others have steady traffic. */
export interface LargeBodies extends LatencyLimit {
  /** One webhook at each host: no limit of a webhook or a host comes before that of the memory. */
  webhooks: number;
  eventsPerWebhook: number;
  bodyBytes: number;
  /** `WORKER_BODY_MEMORY`, in MiB. */
  budgetMib: number;
  /** Other organizations, with a webhook each. */
  others: number;
  eventsPerSecond: number;
  measuredMs: number;
  mostResidentMb: number;
  settleWithinMs: number;
}

const mebibyte = 1_024 ** 2;
/** Each body counts once, and once more for what TLS holds of its request. */
const countedTimes = 2;
/** Four statements may be under way that each load 4 MiB and a body more: fan-outs, the relay, dispatch. */
const mostBeyondBudgetMib = countedTimes * 20;
const megabyte = 1_000_000;
/** The requests hang for as long as the run measures, and none ends by itself meanwhile. */
const settings = { WEBHOOK_TIMEOUT_MS: '120000', WORKER_LEASE_MARGIN: '30s' };

/** One organization's requests hang with large bodies. The worker's memory is bounded, and others are not delayed. */
export async function hangWithLargeBodies(stores: Stores, size: LargeBodies): Promise<Finding> {
  await using stage = await openFaultStage(stores, { ...settings, WORKER_BODY_MEMORY: `${size.budgetMib}MiB` });
  const hosts = Array.from({ length: size.webhooks }, (_, n) => `127.0.2.${n + 1}`);
  await using hanging = await startReceiverProcess(await stage.issueCertificate(hosts), '0.0.0.0');
  const measure = await openOthers(stage, size);
  const worker = await stage.startWorker();
  await measure();
  const without = await measure();
  const atRest = residentMemory(worker.pid).now;
  await hanging.hang(true);
  await writeBacklog(stage, size, (n) => hanging.url('/large', hosts[n]));
  await untilTheyHang(worker, size);
  // Handshakes with two hundred hosts and the first leases of each webhook are over when the measurement begins.
  await measure();
  const hungAtOnce = await readMetric(worker.url, slowAttempts);
  const during = await measure();
  const bodies = await readMetric(worker.url, 'webhook_body_bytes');
  const peak = residentMemory(worker.pid).peak;
  await hanging.hang(false);
  const lost = await untilDelivered(stage, size);
  const duplicates = stage.requests.duplicates();
  return judge(size, { without, during, memory: { atRest, peak, bodies }, hungAtOnce, lost, duplicates });
}

interface Seen {
  without: Latency;
  during: Latency;
  /** Of the worker, in bytes. */
  memory: { atRest: number; peak: number; bodies: number };
  hungAtOnce: number;
  lost: number;
  duplicates: number;
}

function judge(size: LargeBodies, { without, during, memory, hungAtOnce, lost, duplicates }: Seen): Finding {
  const ratio = ratioOf(during, without);
  const mostBodies = (size.budgetMib + mostBeyondBudgetMib) * mebibyte;
  const broken = {
    [`${lost} deliveries were not made`]: lost > 0,
    [`the worker had ${mb(memory.peak)} MB`]: memory.peak > size.mostResidentMb * megabyte,
    [`bodies took ${mb(memory.bodies)} MB`]: memory.bodies > mostBodies,
    [`others’ p99 is ${ratio} times that of the run without`]: isDelayed(during, without, size),
    [`${during.missing} deliveries of others had not been sent a minute later`]: during.missing > 0,
  };
  return {
    lost,
    duplicates,
    figures: {
      deliveries: size.webhooks * size.eventsPerWebhook,
      'hung at once': hungAtOnce,
      'bodies in memory (MB)': mb(memory.bodies),
      'memory of the worker before, at its peak (MB)': `${mb(memory.atRest)}, ${mb(memory.peak)}`,
      'others’ p50 without, with (ms)': `${without.p50}, ${during.p50}`,
      'others’ p99 without, with (ms)': `${without.p99}, ${during.p99}`,
      'p99 ratio': ratio,
    },
    broken: Object.entries(broken).flatMap(([what, isBroken]) => (isBroken ? [what] : [])),
  };
}

const mb = (bytes: number) => Math.round(bytes / megabyte);

/** @returns what measures the latency of organizations with steady traffic */
async function openOthers(stage: FaultStage, size: LargeBodies): Promise<() => Promise<Latency>> {
  const { internalUrl } = await stage.startApi();
  const others: string[] = [];
  for (let n = 0; n < size.others; n++) others.push((await stage.subscribe([`/other/${n}`])).organizationId);
  return () => measureLatencyOf(stage, others, { ...size, internalUrl });
}

/** An event with a large body for each delivery, all due at the same moment, as when a circuit closes. */
async function writeBacklog(stage: FaultStage, size: LargeBodies, url: (n: number) => string): Promise<void> {
  // Written before there is a webhook: fan-out would give each event to every webhook.
  const organizationId = await insertOrganization(stage.db);
  const text = 'x'.repeat(size.bodyBytes);
  for (let n = 0; n < size.webhooks; n++) {
    const event = () => testEvent(organizationId, { data: { consultation_id: 'con_1', text } });
    await insertEvents(stage.db, Array.from({ length: size.eventsPerWebhook }, event));
  }
  await until(
    'the events are fanned out',
    async () => {
      const { rows } = await sql`select from outbox where organization_id = ${organizationId}`.execute(stage.db);
      return rows.length === 0;
    },
    { withinMs: size.settleWithinMs },
  );
  for (let n = 0; n < size.webhooks; n++) await stage.subscribe(['/large'], { organizationId, url: url(n) });
  await sql`
    with pairs as (
      select w.id as webhook_id, e.* from (
        select id as event_id, organization_id, type, row_number() over (order by id) - 1 as nth from events
        where organization_id = ${organizationId}) e
      join (select id, row_number() over (order by id) - 1 as nth from webhooks where organization_id = ${organizationId}) w
        on w.nth = e.nth % ${size.webhooks}
    ), made as (
      insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts)
      select delivery_id(event_id, webhook_id), organization_id, webhook_id, event_id, type, 'pending', 10 from pairs returning *
    )
    insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, max_attempts, next_attempt_at)
    select id, webhook_id, organization_id, event_id, event_type, max_attempts, now() from made`.execute(stage.db);
}

const slowAttempts = 'webhook_attempts_in_flight_slow';

/** Waits until the bodies of requests that hang fill the budget. */
async function untilTheyHang(worker: ServiceProcess, size: LargeBodies): Promise<void> {
  const full = Math.floor((size.budgetMib * mebibyte) / size.bodyBytes / countedTimes);
  const least = Math.min(full, size.webhooks * size.eventsPerWebhook);
  const slow = () => readMetric(worker.url, slowAttempts);
  await until(`${least} requests hang`, slow, { holds: (count) => count >= least, withinMs: size.settleWithinMs });
}

/** @returns how many deliveries were not made */
async function untilDelivered(stage: FaultStage, size: LargeBodies): Promise<number> {
  const { count } = await stage.db
    .selectFrom('deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  await untilSettled(stage, count, size.settleWithinMs);
  const open = await stage.db.selectFrom('deliveries').select('id').where('status', '<>', 'succeeded').execute();
  return open.length;
}
