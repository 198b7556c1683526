import { randomBytes } from 'node:crypto';
import {
  type ApiCustomer,
  createApiCustomer,
  type HttpAnswer,
  openStage,
  type ServiceProcess,
  type Stage,
  sendRequest,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ScimServer, startScimServer } from './upstreams/scim-server.ts';
import { createVerifyIdentity } from './upstreams/verify-identity.ts';

const scimJson = 'application/scim+json';
const schemas = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  enterpriseUser: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
};

let stage: Stage;
let directory: ScimServer;
let api: ServiceProcess;
let customer: ApiCustomer;
beforeAll(async () => {
  stage = await openStage({ redisUrl: undefined });
  directory = await startScimServer(createVerifyIdentity('scim', () => api.internalUrl));
  api = await stage.startApi({
    API_UPSTREAMS: `scim=${directory.url}`,
    IDENTITY_SIGNING_KEYS: `test:${randomBytes(32).toString('base64')}`,
  });
  customer = await createApiCustomer(api);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

/** A request as an identity provider sends it: base URL `…/scim/v2`, our API key as its token. */
function scim(method: string, path: string, body?: object, key: string | null = customer.key): Promise<HttpAnswer> {
  const headers = {
    accept: scimJson,
    ...(key !== null && { authorization: `Bearer ${key}` }),
    ...(body !== undefined && { 'content-type': `${scimJson}; charset=utf-8` }),
  };
  const url = `${api.url}/scim/v2${path}`;
  return sendRequest({ method, url, headers, body: body === undefined ? undefined : JSON.stringify(body) });
}

async function created(path: string, body: object): Promise<string> {
  const { status, headers, body: made, text } = await scim('POST', path, body);
  expect([status, headers['content-type'], text]).toEqual([201, expect.stringContaining(scimJson), text]);
  return made.id;
}

const patch = (path: string, ...operations: object[]) =>
  scim('PATCH', path, { schemas: [schemas.patch], Operations: operations });
const found = async (query: string) => (await scim('GET', query)).body;

describe('provisioning users and groups through the door, as Okta documents it', () => {
  const userName = 'test.user@okta.local';
  const profile = {
    schemas: [schemas.user],
    userName,
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: userName, type: 'work' }],
    displayName: 'Test Üser',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    active: true,
  };
  const byName = `/Users?filter=userName%20eq%20%22${userName}%22&startIndex=1&count=100`;
  let id: string;

  it('looks for the user, creates it, and reads it', async () => {
    expect(await found(byName)).toMatchObject({ totalResults: 0 });
    id = await created('/Users', profile);
    expect(await found(byName)).toMatchObject({ totalResults: 1, Resources: [{ id, userName, active: true }] });
    expect(await found(`/Users/${id}`)).toMatchObject({ id, displayName: 'Test Üser', externalId: profile.externalId });
  });

  it("passes on the server's own error for a user that is there already", async () => {
    const { status, body } = await scim('POST', '/Users', profile);
    expect([status, body]).toEqual([409, expect.objectContaining({ status: '409', scimType: 'uniqueness' })]);
  });

  it('changes the profile with PUT', async () => {
    const { status, body } = await scim('PUT', `/Users/${id}`, { ...profile, id, name: { givenName: 'Another' } });
    expect([status, body.name]).toEqual([200, { givenName: 'Another' }]);
  });

  it('puts the user into a group, and removes the group', async () => {
    const group = await created('/Groups', { schemas: [schemas.group], displayName: 'Test SCIMv2' });
    await patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: id, display: userName }] });
    expect((await found(`/Groups/${group}`)).members).toMatchObject([{ value: id }]);
    expect((await scim('DELETE', `/Groups/${group}`)).status).toBe(204);
    expect((await scim('GET', `/Groups/${group}`)).status).toBe(404);
  });

  it('deactivates the user, and activates it again', async () => {
    for (const active of [false, true]) {
      expect((await patch(`/Users/${id}`, { op: 'replace', value: { active } })).status).toBe(200);
      expect(await found(`/Users/${id}`)).toMatchObject({ active });
    }
  });
});

describe('provisioning users and groups through the door, as Entra documents it', () => {
  const userName = 'Test_User_00aa00aa-bb11@testuser.com';
  const asEntraEncodes = encodeURIComponent(`"${userName}"`);
  let id: string;

  it('tests the connection with a user that does not exist', async () => {
    const { status, body } = await scim('GET', '/Users?filter=userName+eq+%22non-existent%22');
    expect([status, body.totalResults]).toEqual([200, 0]);
  });

  it('creates a user with the enterprise extension, and finds it', async () => {
    id = await created('/Users', {
      schemas: [schemas.user, schemas.enterpriseUser],
      externalId: '22bbbbbb-bbbb-bbbb-bbbb-000000000000',
      userName,
      active: true,
      displayName: 'lennay',
      emails: [{ primary: true, type: 'work', value: 'test@testuser.com' }],
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      [schemas.enterpriseUser]: { department: 'bob' },
    });
    const list = await found(`/Users?filter=userName+eq+${asEntraEncodes}`);
    expect(list.Resources).toMatchObject([{ id, [schemas.enterpriseUser]: { department: 'bob' } }]);
  });

  it('changes attributes with PATCH, by paths with filters', async () => {
    const { status, body } = await patch(
      `/Users/${id}`,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@testuser.com' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
    );
    expect([status, body.emails, body.name.familyName]).toEqual([
      200,
      [expect.objectContaining({ value: 'updatedEmail@testuser.com' })],
      'updatedFamilyName',
    ]);
  });

  it('changes the members of a group', async () => {
    const displayName = '11111 group';
    const group = await created('/Groups', { schemas: [schemas.group], externalId: 'aaaa', displayName });
    await patch(`/Groups/${group}`, { op: 'Add', path: 'members', value: [{ value: id }] });
    const query = `/Groups?excludedAttributes=members&filter=displayName+eq+%22${displayName.replace(' ', '%20')}%22`;
    const [listed] = (await found(query)).Resources;
    expect([listed.id, listed.members]).toEqual([group, undefined]);
    expect((await found(`/Groups/${group}`)).members).toMatchObject([{ value: id }]);
    await patch(`/Groups/${group}`, { op: 'Remove', path: 'members', value: [{ value: id }] });
    expect((await found(`/Groups/${group}`)).members ?? []).toEqual([]);
  });

  it('deactivates the user, and deletes it', async () => {
    expect((await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: false })).status).toBe(200);
    expect(await found(`/Users/${id}`)).toMatchObject({ active: false });
    const deleted = await scim('DELETE', `/Users/${id}`);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await scim('GET', `/Users/${id}`)).status).toBe(404);
  });
});

describe("our own errors under /scim/v2 have SCIM's shape", () => {
  function expectScimError({ status, headers, body }: HttpAnswer, expectedStatus: number, code: string): void {
    expect([status, headers['content-type']]).toEqual([expectedStatus, expect.stringContaining(scimJson)]);
    expect(body).toMatchObject({ schemas: [schemas.error], status: String(expectedStatus) });
    expect(body.detail).toMatch(new RegExp(`^${code}: \\S.+\\.$`));
  }

  it('401 without a key', async () => {
    expectScimError(await scim('GET', '/Users', undefined, null), 401, 'unauthorized');
  });

  it('403 for a key that may only read', async () => {
    const fields = { scopes: ['scim:read'] };
    const { secret } = await customer.createKey(customer.organizationId, fields);
    expectScimError(await scim('POST', '/Users', { userName: 'x' }, secret), 403, 'forbidden_scope');
    expect((await scim('GET', '/Users', undefined, secret)).status).toBe(200);
    const search = { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], count: 1 };
    expect((await scim('POST', '/Users/.search', search, secret)).status).toBe(200);
  });

  it('405 for a method that SCIM does not have', async () => {
    expectScimError(await scim('PROPFIND', '/Users'), 405, 'method_not_allowed');
  });

  it('400 for a path that servers read differently', async () => {
    expectScimError(await scim('GET', '/Users%2F1'), 400, 'validation_failed');
  });

  it('502 while the SCIM server is away', async () => {
    await using alone = await stage.startApi({ API_UPSTREAMS: 'scim=http://127.0.0.1:1' });
    const headers = { authorization: `Bearer ${customer.key}` };
    const answer = await sendRequest({ method: 'GET', url: `${alone.url}/scim/v2/Users`, headers });
    expectScimError(answer, 502, 'upstream_unavailable');
  });
});
