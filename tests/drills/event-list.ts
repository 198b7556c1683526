import type { ApiCustomer } from '@enterprise-api/testkit';

/** Events of a customer from a cursor on, oldest first, to the end. */
export interface EventList {
  ids: string[];
  /** Goes on behind the last event. */
  cursor: string;
}

export async function followList({ call }: Pick<ApiCustomer, 'call'>, from?: string): Promise<EventList> {
  const ids: string[] = [];
  for (let cursor = from; ; ) {
    const place = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await call('GET', `/v1/events?order=asc&limit=100${place}`);
    if (status !== 200) throw new Error(`The list of events is answered with ${status}.`);
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.next_cursor;
    if (!body.has_more) return { ids, cursor: cursor ?? '' };
  }
}
