import { isDeepStrictEqual } from 'node:util';
import type { ApiClient } from '@enterprise-api/testkit';

type Item = Record<string, unknown> & { id: string };

const lists = [
  '/v1/events?order=asc&limit=40',
  '/v1/events?limit=40',
  '/v1/webhooks/deliveries?limit=60',
  '/v1/webhooks/deliveries?order=asc&limit=60',
  '/v1/webhooks?limit=1',
];

/**
 * Reads the history by the APIs of two versions, each page by the other one than the page before it.
 *
 * @returns what differs, in words
 */
export async function readByBoth(earlier: ApiClient, current: ApiClient): Promise<string[]> {
  const differing: string[] = [];
  for (const list of lists) {
    const [one, other, alone] = [
      await readInTurn(list, [earlier, current]),
      await readInTurn(list, [current, earlier]),
      await readInTurn(list, [current]),
    ];
    if (one.pages < 2) differing.push(`${list} has no second page: this proves nothing`);
    for (const { items } of [one, other]) if (!isShown(items, alone.items)) differing.push(list);
  }
  const { items } = await readInTurn('/v1/webhooks/deliveries?limit=60', [earlier]);
  for (const { id } of items.slice(0, 3)) {
    const [before, now] = [await detailOf(earlier, id), await detailOf(current, id)];
    if (!isShown([before], [now])) differing.push(`the delivery ${id}`);
  }
  return differing;
}

async function readInTurn(list: string, clients: readonly ApiClient[]): Promise<{ items: Item[]; pages: number }> {
  const items: Item[] = [];
  let place = '';
  for (let pages = 0; ; ) {
    const client = clients[pages % clients.length];
    const answer = await client?.call('GET', list + place);
    if (answer?.status !== 200) throw new Error(`${list}${place} is answered with ${answer?.status}: ${answer?.text}`);
    items.push(...answer.body.data);
    pages += 1;
    if (!answer.body.has_more) return { items, pages };
    place = `&cursor=${encodeURIComponent(answer.body.next_cursor)}`;
  }
}

async function detailOf({ call }: ApiClient, id: string): Promise<Item> {
  const { status, body } = await call('GET', `/v1/webhooks/deliveries/${id}`);
  if (status !== 200) throw new Error(`The delivery ${id} is answered with ${status}.`);
  return body;
}

/** Whether each item is there in the same place, with all of its fields; the version that `all` is of may show more. */
function isShown(items: readonly Item[], all: readonly Item[]): boolean {
  const isSame = (item: Item, other: Item | undefined) =>
    Object.keys(item).every((field) => isDeepStrictEqual(item[field], other?.[field]));
  return items.length === all.length && items.every((item, index) => isSame(item, all[index]));
}

/**
 * Repeats requests with an Idempotency-Key at the other version than the one that answered first.
 *
 * @param url of a webhook, whose events nobody emits
 * @returns what is answered otherwise, in words
 */
export async function repeatByBoth(earlier: ApiClient, current: ApiClient, url: string): Promise<string[]> {
  const create = ({ call }: ApiClient, key: string) =>
    call('POST', '/v1/webhooks', { url, events: ['batch.failed'] }, { 'idempotency-key': key });
  const differing: string[] = [];
  for (const [key, one, other] of [
    ['first-by-earlier', earlier, current],
    ['first-by-current', current, earlier],
  ] as const) {
    const [made, again] = [await create(one, key), await create(other, key)];
    if (made.status !== 201 || again.text !== made.text) differing.push(`${key}: ${made.text}, then ${again.text}`);
  }
  return differing;
}
