import { attemptsOfFailure, safety, workerLimits } from './figures.ts';
import { busyCores, type Rates } from './processor-time.ts';
import type { Workload } from './workload.ts';

/** How many processes of a service carry a load, and why it is not fewer. */
export interface Processes {
  count: number;
  /** Cores that they keep busy together, without the safety factor. */
  busyCores: number;
  because: string;
}

/** Why a service needs as many processes as it does. */
export const reasons = { cpu: 'CPU time', permits: 'WORKER_CONCURRENCY', slow: 'attempts older than a second' };

/** More are not planned: a system of this size is cells, each with stores of its own. */
export const mostProcesses = 1_000;

/** What comes in a second: `multiple` is 1 for the average, `peak` for the busiest minute. */
export function ratesOf(workload: Workload, multiple: number): Rates {
  const events = workload.eventsPerSecond * multiple;
  const deliveries = events * workload.webhooksPerEvent;
  const furtherAttempts = workload.failing * (attemptsOfFailure.attempts - 1);
  return {
    events,
    deliveries,
    attempts: deliveries * (1 + furtherAttempts),
    requests: workload.requestsPerSecond * multiple,
  };
}

/** Attempts under way: those younger than a second, and older ones, in all workers together. */
export function attemptsInFlight(attemptsPerSecond: number, latencyMs: number): { recent: number; slow: number } {
  const seconds = latencyMs / 1_000;
  return { recent: attemptsPerSecond * Math.min(seconds, 1), slow: attemptsPerSecond * Math.max(0, seconds - 1) };
}

/** The API processes that a load needs: each is at most half busy. */
export function apiProcesses(workload: Workload, rates: Rates): Processes {
  const busyWith = (count: number) => busyCores('api', divided(rates, count), workload);
  const count = fewest((processes) => busyWith(processes) * safety.cores <= 1);
  return { count, busyCores: count * busyWith(count), because: reasons.cpu };
}

/** The workers that a load needs: each is at most half busy, and has permits for the attempts under way. */
export function workerProcesses(workload: Workload, rates: Rates): Processes {
  const busyWith = (count: number) => busyCores('worker', divided(rates, count), workload, count);
  const { recent, slow } = attemptsInFlight(rates.attempts, workload.latencyMs);
  const byReason = [
    { because: reasons.cpu, count: fewest((processes) => busyWith(processes) * safety.cores <= 1) },
    {
      because: reasons.permits,
      count: Math.ceil(recent / (workload.workerConcurrency * workerLimits.share)),
    },
    {
      because: reasons.slow,
      count: Math.ceil(slow / (workerLimits.slowAttempts * workerLimits.share)),
    },
  ];
  const { count, because } = byReason.reduce((most, each) => (each.count > most.count ? each : most));
  return { count, because, busyCores: count * busyWith(count) };
}

function divided({ events, deliveries, attempts, requests }: Rates, by: number): Rates {
  return { events: events / by, deliveries: deliveries / by, attempts: attempts / by, requests: requests / by };
}

function fewest(suffice: (processes: number) => boolean): number {
  for (let count = 1; count < mostProcesses; count++) if (suffice(count)) return count;
  return mostProcesses;
}
