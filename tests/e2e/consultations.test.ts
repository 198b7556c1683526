import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { type HttpAnswer, queueBackends, type ServiceProcess, sendRequest, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestSigningKey } from './identity.ts';
import { openTestStage, type TestStage } from './stage.ts';

const signing = createTestSigningKey();
const question = 'Is it plausible?';
const items = (...fails: boolean[]) => ({ items: fails.map((fail) => ({ question, fail })) });

describe.each(queueBackends())('examples/consultations, queue on $name', (backend) => {
  let stage: TestStage;
  let api: ServiceProcess;
  /** Its work ends at once. */
  let quick: ServiceProcess;
  /** Its work never ends. */
  let slow: ServiceProcess;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    api = await stage.startApi({ IDENTITY_SIGNING_KEYS: signing.setting });
    const settings = { API_INTERNAL_URL: api.internalUrl };
    quick = await stage.startConsultations({ ...settings, WORK_MS: '1' });
    slow = await stage.startConsultations({ ...settings, WORK_MS: '3600000' });
    await stage.startWorker();
  });
  afterAll(() => stage.close());

  /** A customer whose requests arrive as the API forwards them. */
  async function createCustomer() {
    const { organizationId } = await stage.subscribe();
    const organization = toPublicId('org', organizationId);
    const tokens = {
      consultations: await signing.tokenFor(organization, 'consultations'),
      batches: await signing.tokenFor(organization, 'batches'),
    };
    const call = (service: ServiceProcess, method: string, path: string, body?: unknown, headers: object = {}) =>
      sendRequest({
        method,
        url: service.url + path,
        headers: {
          'x-identity-token': path.startsWith('/v1/batches') ? tokens.batches : tokens.consultations,
          'content-type': 'application/json',
          ...headers,
        },
        body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      });
    const untilEnded = (path: string): Promise<HttpAnswer> =>
      until(`the end of ${path}`, () => call(quick, 'GET', path), { holds: ({ body }) => body.status !== 'running' });
    return { organizationId, organization, call, untilEnded };
  }

  /** The body of the one event of an organization, once it is delivered. */
  async function deliveredEvent(organizationId: string) {
    const [row] = await stage.untilDeliveries(organizationId, (rows) => rows[0]?.status === 'succeeded');
    const events = await stage.db
      .selectFrom('events')
      .innerJoin('event_bodies', 'event_bodies.event_id', 'events.id')
      .select(['id', 'body', 'request_id'])
      .where('organization_id', '=', organizationId)
      .execute();
    expect(events.map(({ id }) => id)).toEqual([row?.event_id]);
    return { ...JSON.parse(events[0]?.body ?? ''), requestId: events[0]?.request_id };
  }

  it.each([
    ['consultations', { question }, 'consultation.completed', { status: 'completed' }],
    ['consultations', { question, fail: true }, 'consultation.failed', { status: 'failed' }],
    ['batches', items(false, false), 'batch.completed', { status: 'completed', total: 2, completed: 2, failed: 0 }],
    ['batches', items(true, true), 'batch.failed', { status: 'failed', total: 2, completed: 0, failed: 2 }],
    [
      'batches',
      items(false, false, true, false, false),
      'batch.partial_failure',
      { status: 'partial_failure', total: 5, completed: 4, failed: 1 },
    ],
  ])(
    'does what POST /v1/%s asks for; its end has one event, which is delivered (%#)',
    async (area, body, type, data) => {
      const { organization, organizationId, call, untilEnded } = await createCustomer();
      const asked = await call(quick, 'POST', `/v1/${area}`, body, { 'x-request-id': 'req_asked' });
      expect(asked).toMatchObject({ status: 201, body: { status: 'running', ended_at: null } });
      const path = `/v1/${area}/${asked.body.id}`;
      expect(asked.headers.location).toBe(path);
      expect((await untilEnded(path)).body).toMatchObject({ id: asked.body.id, ...data });
      const name = area === 'batches' ? 'batch_id' : 'consultation_id';
      expect(await deliveredEvent(organizationId)).toMatchObject({
        type,
        organization_id: organization,
        data: { [name]: asked.body.id, ...data },
        requestId: 'req_asked',
      });
    },
  );

  it('cancels work that runs, once and again, and emits no event; work that has ended is 409', async () => {
    const { organizationId, call, untilEnded } = await createCustomer();
    const { body: running } = await call(slow, 'POST', '/v1/consultations', { question });
    const path = `/v1/consultations/${running.id}`;
    const canceled = await call(slow, 'POST', `${path}/cancel`);
    expect(canceled).toMatchObject({ status: 200, body: { id: running.id, status: 'canceled' } });
    expect((await call(slow, 'POST', `${path}/cancel`)).body).toEqual(canceled.body);
    expect((await call(slow, 'GET', path)).body).toEqual(canceled.body);

    const { body: quickOne } = await call(quick, 'POST', '/v1/consultations', { question });
    await untilEnded(`/v1/consultations/${quickOne.id}`);
    const refused = await call(quick, 'POST', `/v1/consultations/${quickOne.id}/cancel`);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    expect((await deliveredEvent(organizationId)).data.consultation_id).toBe(quickOne.id);
  });

  it('does the work of requests with one Idempotency-Key once, also when they come at the same time', async () => {
    const { call } = await createCustomer();
    const key = { 'idempotency-key': 'once' };
    const ask = (body: object = { question }) => call(slow, 'POST', '/v1/consultations', body, key);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(19);
    expect(await ask({ question, fail: true })).toMatchObject({
      status: 422,
      body: { error: { code: 'idempotency_key_reused' } },
    });
    expect((await call(slow, 'POST', '/v1/batches', items(false), key)).status).toBe(422);
    const other = await createCustomer();
    const { body, status } = await other.call(slow, 'POST', '/v1/consultations', { question }, key);
    expect(status).toBe(201);
    expect(body.id).not.toBe(answers[0]?.body.id);
  });

  it('shows an organization nothing of another: 404 as for what does not exist', async () => {
    const [one, other] = [await createCustomer(), await createCustomer()];
    const { body } = await one.call(slow, 'POST', '/v1/consultations', { question });
    const asOther = (method: string, path: string) => other.call(slow, method, path);
    const missing = await asOther('GET', `/v1/consultations/${toPublicId('con', newUuid())}`);
    expect(missing).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    expect((await asOther('GET', `/v1/consultations/${body.id}`)).text).toBe(missing.text);
    expect((await asOther('POST', `/v1/consultations/${body.id}/cancel`)).text).toBe(missing.text);
    expect((await asOther('GET', '/v1/consultations')).body.data).toEqual([]);
    expect((await one.call(slow, 'GET', `/v1/batches/${body.id}`)).status).toBe(404);
    expect((await one.call(slow, 'GET', `/v1/consultations/${body.id}`)).body.status).toBe('running');
  });

  it('lists the newest first, page by page', async () => {
    const { call } = await createCustomer();
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.push((await call(slow, 'POST', '/v1/batches', items(false))).body.id);
    const first = await call(slow, 'GET', '/v1/batches?limit=2');
    expect(first.body).toMatchObject({ object: 'list', has_more: true });
    const second = await call(slow, 'GET', `/v1/batches?limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body).toMatchObject({ has_more: false, next_cursor: null });
    const listed = [...first.body.data, ...second.body.data].map(({ id }: { id: string }) => id);
    expect(listed).toEqual(ids.toReversed());
  });

  it.each([
    ['an empty object', 'POST', '/v1/consultations', {}, 400, 'validation_failed'],
    ['an unknown field', 'POST', '/v1/consultations', { question, extra: 1 }, 400, 'validation_failed'],
    ['text that cannot be stored', 'POST', '/v1/consultations', { question: 'a\0b' }, 400, 'validation_failed'],
    ['no body', 'POST', '/v1/consultations', undefined, 400, 'validation_failed'],
    ['half a body', 'POST', '/v1/consultations', '{', 400, 'validation_failed'],
    ['64 KiB', 'POST', '/v1/consultations', { question: 'x'.repeat(65_536) }, 413, 'payload_too_large'],
    ['no items', 'POST', '/v1/batches', { items: [] }, 400, 'validation_failed'],
    ['a limit of 0', 'GET', '/v1/batches?limit=0', undefined, 400, 'validation_failed'],
    ['a cursor that cannot be', 'GET', '/v1/batches?cursor=%00', undefined, 400, 'validation_failed'],
    ['an id that cannot be', 'GET', '/v1/consultations/con_%00', undefined, 404, 'not_found'],
    ['a path that cannot be decoded', 'GET', '/v1/consultations/%ff', undefined, 400, 'validation_failed'],
    ['another method', 'DELETE', '/v1/consultations', undefined, 404, 'not_found'],
    ['another path', 'GET', '/v1/panels', undefined, 404, 'not_found'],
  ])('refuses %s', async (_what, method, path, body, status, code) => {
    const { call } = await createCustomer();
    const answer = await call(slow, method, path, body, { 'x-request-id': 'req_wrong' });
    expect(answer).toMatchObject({ status, body: { error: { code, request_id: 'req_wrong' } } });
    expect(Object.keys(answer.body.error)).toEqual(['type', 'code', 'message', 'request_id']);
  });

  it('refuses an Idempotency-Key that could not be kept', async () => {
    const { call } = await createCustomer();
    const key = { 'idempotency-key': 'x'.repeat(5_000) };
    expect((await call(slow, 'POST', '/v1/consultations', { question }, key)).status).toBe(400);
  });

  it('answers 401 to a request that did not come through the API, or was meant for another area', async () => {
    const organization = toPublicId('org', newUuid());
    const tokens = {
      none: undefined,
      nonsense: 'a.b.c',
      'another area': await signing.tokenFor(organization, 'batches'),
      'another issuer': await signing.tokenFor(organization, 'consultations', { issuer: 'somebody' }),
      expired: await signing.tokenFor(organization, 'consultations', { expiresIn: -1 }),
      'a forger’s key': await createTestSigningKey().tokenFor(organization, 'consultations'),
      'an unknown key': await createTestSigningKey('unknown').tokenFor(organization, 'consultations'),
      unsigned: `${toBase64({ alg: 'none' })}.${toBase64({ iss: 'enterprise-api', aud: 'consultations', org: organization })}.`,
    };
    for (const [what, token] of Object.entries(tokens)) {
      const answer = await sendRequest({
        method: 'GET',
        url: `${slow.url}/v1/consultations`,
        headers: { 'x-organization-id': organization, ...(token !== undefined && { 'x-identity-token': token }) },
      });
      expect({ what, status: answer.status, code: answer.body.error.code }).toEqual({
        what,
        status: 401,
        code: 'unauthorized',
      });
    }
  });

  it('answers 503 while the keys of the API cannot be read', async () => {
    const alone = await stage.startConsultations({ API_INTERNAL_URL: 'http://127.0.0.1:9' });
    const { call } = await createCustomer();
    const answer = await call(alone, 'GET', '/v1/consultations');
    expect(answer).toMatchObject({ status: 503, body: { error: { type: 'api_error', code: 'service_unavailable' } } });
    expect(await alone.stop()).toMatchObject({ code: 0 });
  });
});

function toBase64(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
