import { closeWithinMs, type Loop, settledWithin } from '@enterprise-api/shared/runtime';
import type { FanOut } from './fan-out/fan-out.ts';
import type { LeaseLoader } from './leases/lease-loader.ts';
import type { OutcomeBatcher } from './outcomes/outcome-batcher.ts';
import type { Scheduler } from './scheduler/scheduler.ts';
import type { Sender } from './sender/send.ts';
import type { AutoDisable } from './webhooks/auto-disable.ts';
import type { PendingCancellation } from './webhooks/pending-cancellation.ts';

export interface StoppableStages {
  fanOut: { relay: Pick<FanOut['relay'], 'stop'> };
  dispatcher: Pick<Loop, 'stop'>;
  scheduler: Pick<Scheduler, 'stop' | 'allEnded'>;
  outcomes: Pick<OutcomeBatcher, 'flush'>;
  autoDisable: Pick<AutoDisable, 'settled'>;
  cancellation: Pick<PendingCancellation, 'stop'>;
  leaseLoader: Pick<LeaseLoader, 'settled'>;
  sender: Pick<Sender, 'close'>;
}

/** Time reserved for closing the probes, the tracing and the database after the stages. */
const processReserveMs = 2_500;
/** Time that attempts must leave for recording their outcomes. */
const flushReserveMs = 1_000;
/** Time reserved to act on outcomes and to release leases. Each step takes at most `closeWithinMs`. */
const closeReserveMs = 2 * closeWithinMs;

/**
 * Stops the stages in the order in which a delivery passes them: leases nothing more, lets attempts end, and records
 * their outcomes in the remaining time.
 *
 * @param processMs the time within which the process must stop
 */
export function createStop(stages: StoppableStages, processMs: number) {
  let stopBy: number | undefined;
  const leftMs = (reserveMs: number) => Math.max(0, (stopBy ?? 0) - performance.now() - reserveMs);
  /** Starts no further attempt and releases waiting leases. The time limit of the stop starts here. */
  const stopStarting = () => {
    stopBy ??= performance.now() + processMs - processReserveMs;
    stages.scheduler.stop();
    // The relay would only fan out for other processes, which run their own relays.
    void stages.fanOut.relay.stop();
  };
  const stop = async () => {
    stopStarting();
    await settledWithin(Promise.all([stages.dispatcher.stop(), stages.fanOut.relay.stop()]), closeWithinMs);
    await settledWithin(stages.scheduler.allEnded(), leftMs(flushReserveMs + closeReserveMs));
    const flushMs = Math.max(flushReserveMs, leftMs(closeReserveMs));
    await settledWithin(stages.outcomes.flush(flushMs), flushMs);
    await settledWithin(stages.autoDisable.settled(), closeWithinMs);
    await settledWithin(Promise.all([stages.cancellation.stop(), stages.leaseLoader.settled()]), closeWithinMs);
    stages.sender.close();
  };
  return { stopStarting, stop };
}
