import { type BatchedProducer, createBatchedProducer } from '@enterprise-api/shared/events';
import { countInvariantViolations, type Database } from '@enterprise-api/shared/ledger';
import { createJobProducer, createNotifier, type QueueBackend, selectQueueBackend } from '@enterprise-api/shared/queue';
import { fromPublicId, systemClock } from '@enterprise-api/shared/runtime';
import {
  openStage,
  type QueueBackendUnderTest,
  type Receiver,
  type Stage,
  selectDeliveriesWithDueTime,
  until,
  type WebhookValues,
} from '@enterprise-api/testkit';

/** A stage on one queue backend, with a receiver and a producer that emits as an internal service does. */
export interface TestStage extends Omit<Stage, 'subscribe'> {
  queue: QueueBackend;
  producer: BatchedProducer;
  receiver: Receiver;
  /** An organization with one webhook at the stage's receiver (path `/hook` unless `url` says otherwise). */
  subscribe(values?: Partial<WebhookValues>): ReturnType<Stage['subscribe']>;
  deliveries(organizationId: string): Promise<DeliveryRow[]>;
  /** Waits until the rows of an organization's deliveries satisfy a condition; fails with the rows as they are. */
  untilDeliveries(
    organizationId: string,
    condition: (rows: DeliveryRow[]) => boolean,
    withinMs?: number,
  ): Promise<DeliveryRow[]>;
  /** Ends all processes, checks the ledger's invariant, closes the stores. */
  close(): Promise<void>;
}

type DeliveryRow = Awaited<ReturnType<typeof findDeliveries>>[number];

/** Quick retries, so that a test sees a whole schedule. */
const quickRetries = {
  WEBHOOK_RETRY_SCHEDULE: '200ms,400ms,800ms',
  WEBHOOK_RETRY_JITTER: '0',
  // Longer than a busy machine stalls: an attempt that runs out of time is made twice.
  WEBHOOK_TIMEOUT_MS: '4000',
};

export async function openTestStage(backend: QueueBackendUnderTest): Promise<TestStage> {
  const { redisUrl, close: closeStore } = await backend.start();
  const stage = await openStage({ redisUrl, settings: quickRetries });
  const { db, databaseUrl } = stage;
  const receiver = await stage.startReceiver();
  const queue = selectQueueBackend({ redisUrl, databaseUrl });
  const jobs = createJobProducer(queue, 'fanOut', () => undefined);
  const notifier = createNotifier({ producer: jobs, clock: systemClock, onOutcome: () => undefined });
  return {
    ...stage,
    queue,
    producer: createBatchedProducer({ db, notifier }),
    receiver,
    subscribe: (values = {}) => stage.subscribe({ url: receiver.url('/hook'), ...values }),
    deliveries: (organizationId) => findDeliveries(db, organizationId),
    untilDeliveries: (organizationId, condition, withinMs = 60_000) =>
      until('the deliveries', () => findDeliveries(db, organizationId), { holds: condition, withinMs, everyMs: 50 }),
    close: async () => {
      await stage.stopServices();
      const violations = await countInvariantViolations(db, 1_000_000);
      await jobs.close();
      await stage[Symbol.asyncDispose]();
      await closeStore();
      if (violations !== 0) throw new Error(`${violations} deliveries break the ledger's invariant.`);
    },
  };
}

/** The UUID of a public id; throws when it is none, because then the test is wrong. */
export function uuidOf(prefix: string, id: string): string {
  const uuid = fromPublicId(prefix, id);
  if (uuid === null) throw new Error(`${id} is no ${prefix} id`);
  return uuid;
}

function findDeliveries(db: Database, organizationId: string) {
  return selectDeliveriesWithDueTime(db)
    .where('deliveries.organization_id', '=', organizationId)
    .orderBy('deliveries.id')
    .execute();
}
