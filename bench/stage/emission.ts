import type { ClosedLoad, OpenLoad } from '../generator/load.ts';
import { eventRequests, payloads } from './requests.ts';
import type { BenchStage } from './stage.ts';

export interface EmissionOptions {
  payloadBytes?: number;
  /** The organization of each event, as an index; by default all in rotation. */
  picks?: Uint16Array;
}

/** Events to be emitted for some organizations, as loads on the API's internal listener. */
export function emission(stage: BenchStage, organizationIds: readonly string[], options: EmissionOptions = {}) {
  const requests = eventRequests(organizationIds, options.payloadBytes ?? payloads.usual);
  const common = { port: internalPort(stage), requests, ...(options.picks && { picks: options.picks }) };
  return {
    /** So many connections, each with the next event when the last one was accepted. */
    closed: (count: number, connections: number): ClosedLoad => ({ ...common, kind: 'closed', count, connections }),
    /** By the clock, with more connections than are needed at once. */
    open: (perSecond: number, seconds: number): OpenLoad => ({
      ...common,
      kind: 'open',
      perSecond,
      seconds,
      connections: 200,
    }),
  };
}

function internalPort(stage: BenchStage): number {
  return Number(new URL(stage.api.internalUrl).port);
}
