/** How many deliveries of each webhook this process may be given now; one place in each list per lane. */
export interface Capacity {
  /** Webhooks that have a lane here. */
  webhookIds: string[];
  /** The free room of each. */
  free: number[];
  /** What each has running and waiting here already. */
  busy: number[];
  /** Room of a webhook that has no lane here yet. */
  ofNewQueue: number;
  /** Over all webhooks. */
  total: number;
}
