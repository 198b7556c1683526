import type { Delivery } from '@enterprise-api/shared/contracts';
import type { NewRow } from '@enterprise-api/shared/ledger';
import { fromPublicId, newUuid } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import type { TestApi } from '../testing/test-api.ts';
import { withWebhook } from '../testing/webhook-frame.ts';

let api: TestApi;
let key: string;
let webhookId: string;
let organizationId: string;
const { insert, update, updatePending, disable } = withWebhook((customer) => {
  ({ api, key, webhookId, organizationId } = customer);
});

const path = '/v1/webhooks/deliveries';
const secondsFromNow = (seconds: number) => new Date(Date.now() + seconds * 1_000);

async function setBreaker(openUntil: Date): Promise<void> {
  const webhook_id = fromPublicId('whk', webhookId) as string;
  await api.db
    .insertInto('webhook_health')
    .values({ webhook_id, first_failure_at: null, open_until: openUntil })
    .execute();
}

const control = (values: Partial<NewRow<'webhook_controls'>>) =>
  api.db
    .insertInto('webhook_controls')
    .values({ webhook_id: fromPublicId('whk', webhookId) as string, ...values })
    .execute();

/** What the list shows, which the detail must show too. */
async function waitingFor(id: string): Promise<Delivery['waiting_for']> {
  const list = await api.call('get', path, key).expect(200);
  const listed = list.body.data.find((delivery: Delivery) => delivery.id === id).waiting_for;
  const detail = await api.call('get', `${path}/${id}`, key).expect(200);
  expect(detail.body.waiting_for).toBe(listed);
  return listed;
}

describe('waiting_for', () => {
  it.each(['succeeded', 'failed', 'canceled'] as const)('is null when the delivery is %s', async (status) => {
    expect(await waitingFor((await insert({ status })).id)).toBeNull();
  });

  it('is null when the delivery is shown as canceled because its webhook is disabled', async () => {
    const { id } = await insert();
    await disable();
    await update(id, { status: 'pending', completed_at: null });
    await updatePending(id, { next_attempt_at: secondsFromNow(60), lease_count: 1 });
    expect(await waitingFor(id)).toBeNull();
  });

  it('is `lease` while a worker has leased the delivery, also behind an open breaker', async () => {
    const { id } = await insert();
    await updatePending(id, { lease_count: 1, next_attempt_at: secondsFromNow(45) });
    expect(await waitingFor(id)).toBe('lease');
    await setBreaker(secondsFromNow(60));
    expect(await waitingFor(id)).toBe('lease');
  });

  it('is `paused` while the webhook is paused, unless a worker has leased it; a test waits for no webhook', async () => {
    const { id } = await insert();
    await control({ paused_since: secondsFromNow(-10), resume_at: secondsFromNow(60), held_until: secondsFromNow(60) });
    expect(await waitingFor(id)).toBe('paused');
    await updatePending(id, { next_attempt_at: secondsFromNow(30) });
    expect(await waitingFor(id)).toBe('paused');
    await updatePending(id, { next_attempt_at: secondsFromNow(30), lease_count: 1 });
    expect(await waitingFor(id)).toBe('lease');
    const test = await insert({ test: true });
    expect(await waitingFor(test.id)).toBe('capacity');
  });

  it('is `paused` while operators have paused the organization or everybody, for tests too', async () => {
    const { id } = await insert({ test: true });
    for (const organization of [organizationId, null]) {
      const pause = (paused: boolean) =>
        api
          .internal('post', '/internal/v1/sending')
          .send({ paused, ...(organization !== null && { organization_id: organization }) })
          .expect(200);
      await pause(true);
      expect(await waitingFor(id)).toBe('paused');
      await pause(false);
      expect(await waitingFor(id)).toBe('capacity');
    }
  });

  it('is `receiver` while the receiver holds the webhook, also behind an open breaker', async () => {
    const { id } = await insert();
    await control({ held_until: secondsFromNow(60), paused_since: secondsFromNow(-90), resume_at: secondsFromNow(-1) });
    await setBreaker(secondsFromNow(60));
    expect(await waitingFor(id)).toBe('receiver');
    await updatePending(id, { next_attempt_at: secondsFromNow(30) });
    expect(await waitingFor(id)).toBe('receiver');
  });

  it.each<[string, Partial<NewRow<'webhook_controls'>>]>([
    ['rate', { rate_limit_per_second: 1, rate_used_until: secondsFromNow(3_600) }],
    ['attempts in flight', { max_in_flight: 1, in_flight_ids: [newUuid()] }],
  ])('is `rate_limit` when it is due and the limit of the %s is reached', async (_, limits) => {
    const { id } = await insert();
    await control(limits);
    expect(await waitingFor(id)).toBe('rate_limit');
    await updatePending(id, { next_attempt_at: secondsFromNow(30) });
    expect(await waitingFor(id)).toBe('schedule');
  });

  it('is `circuit_open` when the breaker is open and the due time lies ahead', async () => {
    const { id } = await insert();
    await updatePending(id, { next_attempt_at: secondsFromNow(30) });
    await setBreaker(secondsFromNow(10));
    expect(await waitingFor(id)).toBe('circuit_open');
  });

  it('is `schedule` when the due time lies ahead and no breaker is open', async () => {
    const { id } = await insert();
    await updatePending(id, { next_attempt_at: secondsFromNow(30) });
    expect(await waitingFor(id)).toBe('schedule');
    await setBreaker(secondsFromNow(-1));
    expect(await waitingFor(id)).toBe('schedule');
  });

  it('is `capacity` when the delivery is due and not leased, also when a lease of it has run out', async () => {
    const { id } = await insert();
    expect(await waitingFor(id)).toBe('capacity');
    await setBreaker(secondsFromNow(60));
    expect(await waitingFor(id)).toBe('capacity');
    await updatePending(id, { lease_count: 1, next_attempt_at: secondsFromNow(-1) });
    expect(await waitingFor(id)).toBe('capacity');
  });
});
