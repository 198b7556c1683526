import { type KeyPairPem, startPeer } from '@enterprise-api/testkit';
import type { RequestLog, SentRequest } from './request-log.ts';

interface Flood {
  internalUrl: string;
  organizationIds: readonly string[];
  events: number;
}

interface Seen {
  sent: SentRequest[];
  changedBodies: number;
  /** The most requests that one path had at the same time. */
  mostInFlight: number;
}

export type LoadedSideCalls = {
  start: (options: { certificate: KeyPairPem; answerMs: number }) => Promise<{ port: number }>;
  flood: (flood: Flood) => Promise<number>;
  log: (_: null) => Seen;
};

/** The emission and the endpoints of organizations with much traffic. */
export interface LoadedSide extends AsyncDisposable {
  url(path: string): string;
  /**
   * Emits as fast as the API accepts. A 503 says that the ledger did not answer within a second; the client then posts again.
   *
   * @returns how many posts were answered with 503
   */
  flood(flood: Flood): Promise<number>;
  /** What its endpoints got so far. */
  log(): Promise<Seen>;
}

/**
 * Starts them in a process of its own. In one process with the endpoints that are measured, a flood kept the event loop
 * busy for the whole run, and most of the measured delay was that of the measurement itself.
 *
 * @param answerMs its endpoints answer after this time
 */
export async function startLoadedSide(certificate: KeyPairPem, answerMs: number): Promise<LoadedSide> {
  const peer = await startPeer<LoadedSideCalls>(new URL('./loaded-side-main.ts', import.meta.url));
  const { port } = await peer.call('start', { certificate, answerMs });
  return {
    url: (path) => `https://localhost:${port}${path}`,
    flood: (flood) => peer.call('flood', flood),
    log: () => peer.call('log', null),
    [Symbol.asyncDispose]: () => peer.close(),
  };
}

/** A log with the requests of both. */
export function withRequestsOf(requests: RequestLog, { sent, changedBodies }: Seen): RequestLog {
  const all = [...requests.sent, ...sent];
  const deliveries = new Set(all.map(({ deliveryId }) => deliveryId)).size;
  return {
    ...requests,
    sent: all,
    changedBodies: requests.changedBodies + changedBodies,
    duplicates: () => all.length - deliveries,
    deliveryCount: () => deliveries,
  };
}
