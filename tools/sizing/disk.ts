import { attemptsOfFailure, type Curve, eventBytes, logBytes, requestBytes, rowBytes, safety } from './figures.ts';
import type { Rates } from './processor-time.ts';
import type { Workload } from './workload.ts';

/** Bytes in PostgreSQL when the oldest parts are about to go, without the safety factor but for the sum. */
export interface Disk {
  bodies: number;
  /** Events, deliveries and failed attempts, without bodies and indexes. */
  history: number;
  indexes: number;
  /** A month of events that is written again without its bodies. */
  rewriting: number;
  withSafety: number;
  /** What is archived in a day, if the log is archived. */
  logPerDay: number;
}

const secondsPerDay = 86_400;
/** Parts go by the month, so what is a day past its time may stay for a month more. */
export const daysOfMonth = 31;

/** @param rates averages, not those of the busiest minute */
export function diskOf(workload: Workload, rates: Rates): Disk {
  const { payloadBytes, failing, retentionBodiesDays, retentionHistoryDays } = workload;
  const perDay = (perSecond: number) => perSecond * secondsPerDay;
  const [bodyDays, historyDays] = [retentionBodiesDays + daysOfMonth, retentionHistoryDays + daysOfMonth];
  const [events, deliveries] = [perDay(rates.events), perDay(rates.deliveries)];
  const failedAttempts = deliveries * failing * attemptsOfFailure.attempts;
  const bodies = events * bodyDays * bodyBytes(payloadBytes);
  const rows = events * rowBytes.event + deliveries * rowBytes.delivery + failedAttempts * rowBytes.failedAttempt;
  const indexes = events * rowBytes.eventIndexes + deliveries * rowBytes.deliveryIndexes;
  const [history, indexesKept] = [rows * historyDays, indexes * historyDays];
  const rewriting = events * daysOfMonth * (rowBytes.event + rowBytes.eventIndexes);
  const furtherAttempts = perDay(rates.attempts - rates.events);
  return {
    bodies,
    history,
    indexes: indexesKept,
    rewriting,
    withSafety: (bodies + history + indexesKept + rewriting) * safety.disk,
    logPerDay: Math.max(0, events * along(logBytes.points, payloadBytes) + furtherAttempts * rowBytes.deliveryLog),
  };
}

/** What the body of an event takes in its row, compressed where it is large. */
export function bodyBytes(payloadBytes: number): number {
  return Math.max(0, along(eventBytes.points, payloadBytes) - rowBytes.event);
}

/** Bytes a second to receivers, as they are on the wire. */
export function egressBytes(workload: Workload, attemptsPerSecond: number): number {
  return attemptsPerSecond * (workload.payloadBytes + requestBytes.beside) * requestBytes.framing;
}

/** The value of a curve on a straight line between its points, and on as at its ends. */
export function along(points: Curve, at: number): number {
  const above = points.findIndex(([x]) => x >= at);
  const index = above === -1 ? points.length - 1 : Math.max(1, above);
  const [[x0, y0] = [0, 0], [x1, y1] = [1, 0]] = [points[index - 1], points[index]];
  return y0 + ((y1 - y0) * (at - x0)) / (x1 - x0);
}
