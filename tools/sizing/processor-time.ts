import {
  type Curve,
  deliveredKibibyteCost,
  deliveryCosts,
  eventCosts,
  kibibyteCosts,
  type Part,
  receiverConnections,
  requestCosts,
} from './figures.ts';
import type { Workload } from './workload.ts';

/** How much comes in a second, at some moment. */
export interface Rates {
  events: number;
  deliveries: number;
  /** Deliveries, and the further attempts of those that fail. */
  attempts: number;
  /** Other API requests. */
  requests: number;
}

/** The value of a curve between its points, on a straight line in logarithms; beyond the ends as at the ends. */
export function valueAt(points: Curve, at: number): number {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return 0;
  if (at <= first[0]) return first[1];
  const above = points.findIndex(([x]) => x >= at);
  if (above === -1) return last[1];
  const [[x0, y0], [x1, y1]] = [points[above - 1] ?? first, points[above] ?? last];
  return y0 * (y1 / y0) ** (Math.log(at / x0) / Math.log(x1 / x0));
}

/** Cores that events with one delivery of 1 KiB keep busy: never fewer at a greater rate, whatever noise the points have. */
function coresOfEvents(curve: Curve, perSecond: number): number {
  const upTo = curve.filter(([rate]) => rate < perSecond).map(([rate, microseconds]) => rate * microseconds);
  return Math.max(...upTo, perSecond * valueAt(curve, perSecond)) / 1e6;
}

/**
 * Cores that a part keeps busy.
 *
 * @param rates of one process for `api` and `worker`, of all for the stores
 * @param processes workers, by which the deliveries of a webhook are divided
 */
export function busyCores(part: Part, rates: Rates, workload: Workload, processes = 1): number {
  const kibibytes = Math.max(0, workload.payloadBytes / 1_024 - 1);
  const furtherDeliveries = rates.deliveries - rates.events;
  const repeated = rates.attempts - rates.deliveries;
  const microseconds =
    (furtherDeliveries + repeated) * deliveryCosts[part] +
    rates.requests * requestCosts[part] +
    rates.events * kibibytes * kibibyteCosts[part] +
    (part === 'worker' ? ofWorker(rates, workload, kibibytes, processes) : 0);
  const curve = eventCosts[workload.queue][part];
  return Math.max(0, coresOfEvents(curve, rates.events) + microseconds / 1e6);
}

function ofWorker(rates: Rates, workload: Workload, kibibytes: number, processes: number): number {
  const further = Math.max(0, rates.attempts - rates.events) * kibibytes * deliveredKibibyteCost.microseconds;
  const opened = rates.attempts * newConnectionShare(rates.attempts * processes, workload, processes);
  return further + opened * receiverConnections.handshakeMicroseconds;
}

/** The share of attempts that open a connection: where a webhook is sent to too rarely, none is kept for it. */
export function newConnectionShare(attempts: number, { webhooks }: Workload, processes: number): number {
  if (webhooks === undefined || attempts === 0) return 0;
  const { keptSeconds, keptPerProcess } = receiverConnections;
  const everySeconds = (webhooks * processes) / attempts;
  const tooRare = everySeconds <= keptSeconds ? 0 : 1 - keptSeconds / everySeconds;
  const tooMany = Math.max(0, 1 - keptPerProcess / webhooks);
  return Math.max(tooRare, tooMany);
}
