import { cancelPending } from '@enterprise-api/shared/ledger';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type Customer, withCustomer } from '../testing/test-api.ts';

let customer: Customer;
withCustomer((begun) => {
  customer = begun;
});

const headers = { Authorization: 'Bearer x' };
const registered = { url: 'https://hooks.example.com/in', events: ['*'] };
const call = (method: 'get' | 'post' | 'patch' | 'delete', path: string) =>
  customer.api.call(method, `/v1/webhooks${path}`, customer.key);
const create = async (values: object = {}) =>
  (
    await call('post', '')
      .send({ ...registered, ...values })
      .expect(201)
  ).body;
const rowOf = (id: string) =>
  customer.api.db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', fromPublicId('whk', id) as string)
    .executeTakeFirstOrThrow();

/** A webhook that a worker has disabled as failing, with its probe. */
async function createProbed() {
  const { id } = await create({ auto_recover: true });
  const { body: probe } = await call('post', `/${id}/test`).expect(202);
  await sql`update deliveries set max_attempts = 168, manual = false where id = ${fromPublicId('dlv', probe.id)}`.execute(
    customer.api.db,
  );
  await sql`
    update webhooks set state = 'disabled', disabled_reason = 'failing', recovery_probe_id = ${fromPublicId('dlv', probe.id)}
    where id = ${fromPublicId('whk', id)}`.execute(customer.api.db);
  return { id, probe: async () => (await call('get', `/deliveries/${probe.id}`).expect(200)).body };
}

describe('auto_recover', () => {
  it('is false unless set, is shown, changed and audited', async () => {
    const plain = await create();
    expect(plain.auto_recover).toBe(false);
    expect((await create({ auto_recover: true })).auto_recover).toBe(true);
    const { body } = await call('patch', `/${plain.id}`).send({ auto_recover: true }).expect(200);
    expect(body.auto_recover).toBe(true);
    const audit = await customer.api.internal('get', `/internal/v1/audit?object_id=${plain.id}`).expect(200);
    expect(audit.body.data[0].changes).toEqual({ auto_recover: { from: false, to: true } });
  });

  it('400 with headers, however the two come together', async () => {
    const refused = async (request: ReturnType<typeof call>, body: object, param: string) => {
      const answer = await request.send(body).expect(400);
      expect(answer.body.error).toMatchObject({ code: 'validation_failed', param });
    };
    await refused(call('post', ''), { ...registered, auto_recover: true, headers }, 'auto_recover');
    const withHeaders = await create({ headers, auto_recover: false });
    await refused(call('patch', `/${withHeaders.id}`), { auto_recover: true }, 'auto_recover');
    expect((await rowOf(withHeaders.id)).auto_recover).toBe(false);
    const recovering = await create({ auto_recover: true, headers: {} });
    await refused(call('patch', `/${recovering.id}`), { headers }, 'headers');
    await refused(call('patch', `/${recovering.id}`), { headers, auto_recover: true }, 'auto_recover');
    expect((await rowOf(recovering.id)).header_names).toBeNull();
    await call('patch', `/${withHeaders.id}`).send({ auto_recover: true, headers: {} }).expect(200);
    await call('patch', `/${recovering.id}`).send({ auto_recover: false, headers }).expect(200);
  });

  it('400 to one of two requests at once that would leave the webhook with both', async () => {
    const { id } = await create();
    const answers = await Promise.all([
      call('patch', `/${id}`).send({ headers }),
      call('patch', `/${id}`).send({ auto_recover: true }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  it.each([[null], ['true'], [1]])('400 for %j', async (auto_recover) => {
    const answer = await call('post', '')
      .send({ ...registered, auto_recover })
      .expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param: 'auto_recover' });
  });
});

describe('the probe of a webhook that was disabled as failing', () => {
  it('is pending, and says that its attempts are probes', async () => {
    const { probe } = await createProbed();
    const { id, webhook_id } = await probe();
    const attempt = { delivery_id: fromPublicId('dlv', id), id: sql`gen_random_uuid()`, number: 1, round: 0 };
    await sql`insert into attempts (delivery_id, id, number, round, superseded, manual, started_at, duration_ms, error, webhook_version)
      values (${attempt.delivery_id}, ${attempt.id}, 1, 0, false, false, now(), 3, 'timeout', 1)`.execute(
      customer.api.db,
    );
    const shown = await probe();
    expect(shown).toMatchObject({ status: 'pending', test: true, max_attempts: 168, webhook_id });
    expect(shown.attempts).toMatchObject([{ number: 1, trigger: 'probe' }]);
  });

  it.each([
    ['is enabled by hand', { enabled: true }, { enabled: true, disabled_reason: null }],
    ['is to stay disabled', { enabled: false }, { enabled: false, disabled_reason: 'manual' }],
    ['loses auto_recover', { auto_recover: false }, { enabled: false, disabled_reason: 'failing' }],
    ['gets headers instead', { auto_recover: false, headers }, { enabled: false, disabled_reason: 'failing' }],
  ])('is canceled when the webhook %s', async (_name, change, expected) => {
    const { id, probe } = await createProbed();
    const { body } = await call('patch', `/${id}`).send(change).expect(200);
    expect(body).toMatchObject(expected);
    expect(await probe()).toMatchObject({
      status: 'canceled',
      canceled_reason: 'probe_canceled',
      next_attempt_at: null,
    });
    expect((await rowOf(id)).recovery_probe_id).toBeNull();
  });

  it('is canceled when the webhook is deleted', async () => {
    const { id, probe } = await createProbed();
    await call('delete', `/${id}`).expect(204);
    expect(await probe()).toMatchObject({ status: 'canceled', canceled_reason: 'webhook_deleted' });
  });

  it('is canceled when the organization is closed', async () => {
    const { id, probe } = await createProbed();
    const { id: delivery } = await probe();
    const path = `/internal/v1/organizations/${customer.organizationId}/close`;
    await customer.api.internal('post', path).send({ confirm: customer.organizationId }).expect(202);
    // As the worker's loop does.
    await cancelPending(customer.api.db, [fromPublicId('whk', id) as string], { limit: null, locked: 'wait' });
    const rows = customer.api.db.selectFrom('deliveries').select(['status', 'canceled_reason']);
    expect(await rows.where('id', '=', fromPublicId('dlv', delivery) as string).execute()).toEqual([
      { status: 'canceled', canceled_reason: 'organization_closed' },
    ]);
  });

  it('goes on after other changes, such as a new url', async () => {
    const { id, probe } = await createProbed();
    await call('patch', `/${id}`).send({ url: 'https://moved.example.com/in', auto_recover: true }).expect(200);
    expect((await probe()).status).toBe('pending');
  });
});
