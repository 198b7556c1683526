import { stopWithinMs } from '../config.ts';
import type { FanOut } from '../fan-out/fan-out.ts';
import { EventBodies } from '../leases/event-bodies.ts';
import { registerPipelineGauges } from '../metrics.ts';
import type { SendingPauses } from '../pauses/sending-pauses.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import type { WebhookCache } from '../webhooks/webhook-cache.ts';
import {
  buildLeaseLoader,
  buildLeasing,
  buildRecording,
  buildSending,
  buildSendingPauses,
  buildWebhookCache,
  type PipelineOptions,
} from './stages.ts';
import { createStop, type PipelineStop } from './stop.ts';

/** Everything between an event in the outbox and the recorded outcomes of its deliveries. */
export interface Pipeline extends PipelineStop {
  fanOut: FanOut;
  webhooks: WebhookCache;
  /** Loaded before {@link start}, or what is paused would be sent until it is. */
  pauses: Pick<SendingPauses, 'load' | 'start' | 'wake' | 'stop'>;
  /** A webhook has changed: its pending deliveries may have to be canceled. */
  onWebhookChange(webhookId: string): void;
  start(): void;
}

/** The part of the time of a stop that is reserved for what is closed after the pipeline. */
const closeReserveMs = 1_500;
/** And where spans are recorded, for those that are left. */
const tracingReserveMs = 1_000;

/**
 * Builds the stages of a delivery's way through a worker. Each hands the next what it returns:
 *
 *     fan-out or dispatch → LeaseRow → lease loader → Lease → scheduler → attempt → AttemptResult → outcomes → Recorded
 *
 * They are built in the order in which none needs a later one. What goes against this order is connected at the end: the
 * scheduler starts attempts, releases leases, and reports free capacity to the relay and to dispatch.
 */
export function createPipeline(options: PipelineOptions): Pipeline {
  const { config, clock } = options;
  const webhooks = buildWebhookCache(options);
  const pauses = buildSendingPauses(options);
  const bodies = new EventBodies(config.WORKER_BODY_MEMORY);
  const scheduler = new Scheduler({
    clock,
    permits: config.WORKER_CONCURRENCY,
    concurrency: config.WEBHOOK_ENDPOINT_CONCURRENCY,
    startWithinMs: config.WORKER_START_WITHIN,
    pauses,
    organizationsAboveShare: () => bodies.organizationsAboveShare(),
  });
  const recording = buildRecording(options, scheduler);
  const leaseLoader = buildLeaseLoader(options, { scheduler, webhooks, bodies });
  const sending = buildSending(options, {
    webhooks,
    pauses,
    scheduler,
    leaseLoader,
    bodies,
    outcomes: recording.outcomes,
  });
  const leasing = buildLeasing(options, { scheduler, pauses, leaseLoader, ...recording });
  scheduler.connect({
    deliver: sending.deliver,
    release: leaseLoader.release,
    refillNeeded: leasing.dispatcher.wake,
    capacityFreed: leasing.relay.capacityFreed,
  });
  pauses.connect({ paused: () => scheduler.releasePaused(), resumed: leasing.dispatcher.wake });
  registerPipelineGauges(options.metrics, { scheduler, bodies, pauses, outcomes: recording.outcomes });
  const stages = { ...recording, ...leasing, scheduler, leaseLoader, sender: sending.sender };
  return {
    fanOut: leasing.fanOut,
    webhooks,
    pauses,
    onWebhookChange: (webhookId) => {
      webhooks.invalidate(webhookId);
      recording.cancellation.start([webhookId]);
      leasing.dispatcher.wake();
    },
    start: () => {
      leasing.dispatcher.start();
      leasing.relay.start();
    },
    ...createStop(stages, clock, stopWithinMs(config) - closeReserveMs - (options.tracing ? tracingReserveMs : 0)),
  };
}
