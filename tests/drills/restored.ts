import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
import { type ApiClient, type ServiceProcess, until } from '@enterprise-api/testkit';
import { apiEvent, post } from '../faults/load.ts';
import type { FaultStage } from '../faults/stage.ts';
import { type Destroyed, idempotentWebhook } from './destroyed.ts';
import { followList } from './event-list.ts';

interface RestoredSystem {
  stage: FaultStage;
  api: ServiceProcess;
  customer: ApiClient;
  destroyed: Destroyed;
}

/** What clients, producers and receivers see of the restored system: words for what is wrong, and whether it is right. */
export async function checkRestored(system: RestoredSystem): Promise<Record<string, boolean>> {
  return { ...(await checkProducers(system)), ...(await checkReaders(system)), ...(await checkReceivers(system)) };
}

/** What was accepted is known again; what was lost is accepted as new. */
async function checkProducers({ stage, api, customer, destroyed }: RestoredSystem): Promise<Record<string, boolean>> {
  const { organizationId } = destroyed.customer;
  const [known] = destroyed.before;
  const again = await post(api.internalUrl, [apiEvent(organizationId, known?.key)]);
  const keyed = await idempotentWebhook(customer, stage.url('/keyed'));
  return {
    'an event from before is accepted twice': again.events[0]?.id === known?.id && again.events[0]?.duplicate === true,
    'an Idempotency-Key from before has another effect': keyed.status === 201 && keyed.text === destroyed.keyed.text,
  };
}

/** Cursors go on without a gap, also from behind the restore point; a stream says that its event is gone. */
async function checkReaders({ api, customer, destroyed }: RestoredSystem): Promise<Record<string, boolean>> {
  const { organizationId } = destroyed.customer;
  const made = await post(api.internalUrl, [apiEvent(organizationId), apiEvent(organizationId)]);
  const ids = made.events.map(({ id }) => id);
  const newest = (list: { ids: string[] }) => ids.every((id) => list.ids.includes(id));
  const options = { holds: newest, withinMs: 30_000 };
  const [all, behind, onwards] = [
    await until('the list has the new events', () => followList(customer), options),
    await until(
      'a cursor from behind the point finds them',
      () => followList(customer, destroyed.cursors.behind),
      options,
    ),
    await followList(customer, destroyed.cursors.before),
  ];
  const isKnown = new Set(all.ids);
  const gone = destroyed.accepted.findLast(({ id }) => !isKnown.has(id));
  const stream = await customer.call('GET', `/v1/events/stream?after=${gone?.id}`);
  return {
    'a list has an event twice': isKnown.size === all.ids.length,
    'a list lacks an event from before': destroyed.before.every(({ id }) => isKnown.has(id)),
    'a cursor from behind the point shows other than the new events': behind.ids.length === ids.length,
    'a cursor from before the point leaves something out': all.ids.join().endsWith(onwards.ids.join()),
    'no event behind the point is lost: the drill proves nothing': gone !== undefined,
    [`a stream behind an event that is gone is ${stream.status}`]: stream.status === 404,
  };
}

/** Requests verify with the secret that the receiver has from before. */
async function checkReceivers({ stage, api, destroyed }: RestoredSystem): Promise<Record<string, boolean>> {
  const wrong: string[] = [];
  const seen = new Set<string>();
  stage.requests.respond(async (entry, { headers, body }) => {
    if (entry.path === '/hook') {
      seen.add(entry.deliveryId);
      const verified = verifyWebhook({ headers, rawBody: body, secret: destroyed.secret });
      await verified.catch((error: unknown) => wrong.push(String(error)));
    }
    return { status: 200 };
  });
  await post(api.internalUrl, [apiEvent(destroyed.customer.organizationId)]);
  await until('a request of the restored system', () => seen.size > 0, { withinMs: 60_000 });
  return { [`signatures: ${wrong[0]}`]: wrong.length === 0 };
}
