/** The size of each workload in one form of the benchmark. */
export interface Sizes {
  /** Requests before the measurement: after 1,000 a request still costs up to twice as much as after 20,000. */
  warmUp: number;
  events: number;
  fanOut: { warmUp: number; events: number };
  /** Events in W4; seconds in W5. */
  failing: number;
  hangingSeconds: number;
  latencySeconds: number;
  apiRequests: number;
  backlog: number;
  /** W10: delivery rows in the ledger before the measurement. */
  growth: number[];
  /** W13: events of two other organizations that are erased, or whose deliveries are canceled; ERASED=… sets it. */
  erased: number;
  /** W11: delivery rows in the ledger. */
  panels: number;
  /** W12: pending deliveries of the other webhook, and how often each state is measured. */
  held: { rows: number; windows: number };
  /** Deliveries in each baseline with a queue, and without. */
  queued: number;
  direct: number;
}

export type Form = 'smoke' | 'short' | 'full';

const erasedOr = (usual: number) => Number(process.env.ERASED ?? usual);

export const sizesOf: Record<Form, Sizes> = {
  smoke: {
    warmUp: 100,
    events: 300,
    fanOut: { warmUp: 2, events: 10 },
    failing: 5,
    hangingSeconds: 1,
    latencySeconds: 1,
    apiRequests: 500,
    backlog: 500,
    growth: [1_000],
    erased: erasedOr(2_000),
    panels: 20_000,
    held: { rows: 1_000, windows: 1 },
    queued: 200,
    direct: 500,
  },
  short: {
    warmUp: 6_000,
    events: 10_000,
    fanOut: { warmUp: 50, events: 250 },
    failing: 100,
    hangingSeconds: 6,
    latencySeconds: 4,
    apiRequests: 15_000,
    backlog: 12_000,
    growth: [10_000, 100_000],
    erased: erasedOr(20_000),
    panels: 200_000,
    held: { rows: 1_000_000, windows: 6 },
    queued: 6_000,
    direct: 20_000,
  },
  full: {
    warmUp: 20_000,
    events: 40_000,
    fanOut: { warmUp: 200, events: 1_000 },
    failing: 500,
    hangingSeconds: 20,
    latencySeconds: 15,
    apiRequests: 60_000,
    backlog: 50_000,
    growth: [10_000, 100_000, 1_000_000, 10_000_000],
    erased: erasedOr(200_000),
    panels: 10_000_000,
    held: { rows: 1_000_000, windows: 12 },
    queued: 20_000,
    direct: 60_000,
  },
};
