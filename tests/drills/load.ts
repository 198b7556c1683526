import { type ApiCustomer, type SteadyLoad, steadily } from '@enterprise-api/testkit';
import { apiEvent, post } from '../faults/load.ts';

/** An event that the API has answered 202 for. */
export interface AcceptedEvent {
  /** Its public id. */
  id: string;
  /** The id that its producer gave it. */
  key: string;
}

export interface DrillLoad extends AsyncDisposable {
  readonly accepted: readonly AcceptedEvent[];
  stop: SteadyLoad['stop'];
}

/** Emits one event after another, each with an id of its producer, and remembers which were accepted. */
export function startLoad(
  internalUrl: string,
  { organizationId }: Pick<ApiCustomer, 'organizationId'>,
  perSecond: number,
): DrillLoad {
  const accepted: AcceptedEvent[] = [];
  let count = 0;
  const load = steadily(perSecond, async () => {
    count += 1;
    const key = `drill-${count}`;
    const { status, events } = await post(internalUrl, [apiEvent(organizationId, key)]);
    const id = events[0]?.id;
    if (status === 202 && id !== undefined) accepted.push({ id, key });
  });
  return { accepted, stop: load.stop, [Symbol.asyncDispose]: load[Symbol.asyncDispose] };
}
