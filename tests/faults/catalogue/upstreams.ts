import { killForwarding } from '../forwarding-killed.ts';
import { breakUpstream } from '../upstream-broken.ts';
import type { Campaign } from './entry.ts';

/** Forwarding: APIs that are killed while they forward, and internal services that break. */
export const upstreams = {
  R16: {
    promise: 'R16',
    what: 'APIs killed with -9 and replaced while they forward',
    backends: 'redis',
    short: (stores) => killForwarding(stores, { kills: 3, requests: 600, clients: 10 }),
    full: (stores) => killForwarding(stores, { kills: 20, requests: 10_000, clients: 20 }),
  },
  R17: {
    promise: 'R17',
    what: 'an internal service away, hanging and resetting; other areas and routes have steady traffic',
    backends: 'redis',
    short: (stores) =>
      breakUpstream(stores, {
        perSecond: 30,
        measuredMs: 1_500,
        upstreamTimeout: '2s',
        allowedRatio: 20,
        negligibleMs: 500,
      }),
    full: (stores) =>
      breakUpstream(stores, {
        perSecond: 50,
        measuredMs: 30_000,
        upstreamTimeout: '10s',
        allowedRatio: 2,
        negligibleMs: 0,
      }),
  },
} as const satisfies Record<string, Campaign>;
