import type { RequestLog } from '../faults/request-log.ts';

/** The paths of the receiver. The second one refuses the first attempt: whichever worker runs by then makes the next. */
export const paths = ['/first', '/second'] as const;

/** What has arrived, by the ids that its producers gave to the events. */
export interface Arrivals {
  /** Of these events, those that have not arrived at each path. */
  missing(keys: readonly string[]): string[];
  /** Attempts that were sent more than once. */
  readonly sentTwice: number;
}

export function recordArrivals(requests: RequestLog): Arrivals {
  const arrived = new Set<string>();
  const attempts = new Set<string>();
  let sent = 0;
  requests.respond(({ path, deliveryId, attempt }, { body }) => {
    sent += 1;
    attempts.add(`${deliveryId} ${attempt}`);
    // A 404 is repeated by the schedule, and opens no circuit.
    if (path === paths[1] && attempt === 1) return { status: 404 };
    arrived.add(`${path} ${JSON.parse(String(body)).data.key}`);
    return { status: 200 };
  });
  return {
    missing: (keys) => keys.filter((key) => !paths.every((path) => arrived.has(`${path} ${key}`))),
    get sentTwice() {
      return sent - attempts.size;
    },
  };
}
