import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
let organizationId: string;
const path = '/internal/v1/sending';
const unknownId = 'org_01jd6kz5r8e2v9qxm3c7t4b0na';

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  await sql`truncate sending_pauses`.execute(api.db);
  organizationId = (await api.createOrganization()).id;
});

const post = (body: object) => api.internal('post', path).send(body);
const get = async (query = '') => (await api.internal('get', path + query).expect(200)).body;
const auditOf = async (query: string) =>
  (await api.internal('get', `/internal/v1/audit?${query}`).expect(200)).body.data;
const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('POST /internal/v1/sending', () => {
  it('200, and asked again the same answer with the time of the first', async () => {
    const { body } = await post({ paused: true }).expect(200);
    expect(body).toEqual({ paused: true, organization_id: null, since: aTime });
    await post({ paused: true }).expect(200, body);
    expect(await get()).toEqual(body);
    const resumed = { paused: false, organization_id: null, since: null };
    await post({ paused: false }).expect(200, resumed);
    await post({ paused: false }).expect(200, resumed);
  });

  it('200 for one organization, whose pause and that of all do not touch each other', async () => {
    await post({ paused: true, organization_id: organizationId }).expect(200);
    expect(await get()).toMatchObject({ paused: false });
    await post({ paused: true }).expect(200);
    await post({ paused: false }).expect(200);
    expect(await get(`?organization_id=${organizationId}`)).toEqual({
      paused: true,
      organization_id: organizationId,
      since: aTime,
    });
    await post({ paused: false, organization_id: organizationId }).expect(200);
    expect(await get(`?organization_id=${organizationId}`)).toMatchObject({ paused: false, since: null });
  });

  it('200 to many at once, which pause it once', async () => {
    const before = (await auditOf('action=sending.paused&limit=100')).length;
    const answers = await Promise.all(Array.from({ length: 8 }, () => post({ paused: true }).expect(200)));
    expect(new Set(answers.map(({ body }) => body.since)).size).toBe(1);
    expect(await auditOf('action=sending.paused&limit=100')).toHaveLength(before + 1);
  });

  it('is in the audit log, with who asked for it, once for each change', async () => {
    await post({ paused: true, organization_id: organizationId }).set('X-Actor', 'on-call').expect(200);
    await post({ paused: true, organization_id: organizationId }).expect(200);
    await post({ paused: false, organization_id: organizationId }).expect(200);
    expect(await auditOf(`organization_id=${organizationId}&action=sending.paused`)).toEqual([
      expect.objectContaining({
        actor: 'internal',
        on_behalf_of: 'on-call',
        object_type: 'sending',
        object_id: organizationId,
        changes: { paused: { from: false, to: true } },
      }),
    ]);
    expect(await auditOf(`organization_id=${organizationId}&action=sending.resumed`)).toHaveLength(1);
    await post({ paused: true }).expect(200);
    const [all] = await auditOf('action=sending.paused&limit=1');
    expect(all).toMatchObject({ object_id: null, organization_id: null });
  });

  it.each([[{}], [{ paused: 'yes' }], [{ paused: true, organization_id: null }], [{ paused: true, nonsense: 1 }]])(
    '400 for %j, and nothing is paused',
    async (body) => {
      const answer = await post(body).expect(400);
      expect(answer.body.error.code).toBe('validation_failed');
      expect(await get()).toMatchObject({ paused: false });
    },
  );

  it('401 without the secret', async () => {
    await post({ paused: true }).set('Authorization', 'Bearer wrong').expect(401);
  });

  it('404 for an unknown organization', async () => {
    const answer = await post({ paused: true, organization_id: unknownId }).expect(404);
    expect(answer.body.error.code).toBe('not_found');
  });
});

describe('GET /internal/v1/sending', () => {
  it('200 for what was never paused', async () => {
    expect(await get()).toEqual({ paused: false, organization_id: null, since: null });
    expect(await get(`?organization_id=${organizationId}`)).toEqual({
      paused: false,
      organization_id: organizationId,
      since: null,
    });
  });

  it('404 for an unknown organization', async () => {
    await api.internal('get', `${path}?organization_id=${unknownId}`).expect(404);
  });
});
