import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { sendRequest } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { everyRoute } from '../testing/route-list.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

const secrets = {
  service: 'the-secret-of-a-service-0123456789abc',
  'the next service': 'the-next-secret-of-a-service-0123456789',
  ingress: 'the-secret-of-the-ingress-0123456789',
  producer: 'the-secret-of-a-producer-0123456789',
  'the next producer': 'the-next-secret-of-a-producer-0123456789',
  stranger: 'a-secret-that-nobody-was-given-0123456789',
};
type Holder = keyof typeof secrets;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    environment: {
      INTERNAL_API_SECRET: `${secrets.service},${secrets['the next service']}`,
      INTERNAL_AUTHORIZE_SECRET: secrets.ingress,
      INTERNAL_EVENTS_SECRET: `${secrets.producer},${secrets['the next producer']}`,
    },
  });
});
afterAll(() => api.stop());

const emission = { method: 'POST', path: '/internal/v1/events' };
const guarded = everyRoute().filter(({ path, caller }) => path.startsWith('/internal/') && caller !== 'anyone');
const operations = [
  ...guarded.map(({ method, path }) => ({ method, path })),
  { method: 'GET', path: emission.path },
  { method: 'POST', path: `${emission.path}/` },
  { method: 'GET', path: '/internal/v1/nothing' },
];
const holders = Object.keys(secrets) as Holder[];
const cases = operations.flatMap((operation) => holders.map((holder) => ({ ...operation, holder })));

/** Sends an empty request about unknown objects; a body that is missing is 400, an unknown object 404. */
const ask = (holder: Holder, { method, path }: { method: string; path: string }) =>
  sendRequest({
    method,
    url: `${api.internalUrl}${path.replaceAll(/\{(\w+)\}/g, (_, name) => toPublicId(name === 'key_id' ? 'key' : 'org', newUuid()))}`,
    headers: { Authorization: `Bearer ${secrets[holder]}` },
  });

const refusals = ['unauthorized', 'forbidden_scope'];

/** How a holder is refused; undefined when what it gets concerns its request alone. */
function refusalOf(holder: Holder, { method, path }: { method: string; path: string }): string | undefined {
  if (holder === 'stranger') return 'unauthorized';
  const isEmission = method === emission.method && path === emission.path;
  const mayCall = holder.endsWith('service') || (holder.endsWith('producer') && isEmission);
  return mayCall ? undefined : 'forbidden_scope';
}

describe('a shared secret would open both:', () => {
  it.each(cases)('$holder, $method $path', async ({ holder, ...operation }) => {
    const answer = await ask(holder, operation);
    const code = answer.body.error?.code;
    expect(refusals.includes(code) ? code : undefined).toBe(refusalOf(holder, operation));
    const challenge = String(answer.headers['www-authenticate'] ?? '');
    expect(challenge.includes('error="insufficient_scope"')).toBe(answer.status === 403);
  });

  it.each([
    ['service', 400],
    ['the next service', 400],
    ['ingress', 400],
    ['producer', 403],
    ['the next producer', 403],
    ['stranger', 401],
  ] as const)('forward authentication: %s gets %i', async (holder, status) => {
    const answer = await sendRequest({
      method: 'GET',
      url: `${api.internalUrl}/internal/v1/authorize`,
      headers: { 'X-Internal-Authorization': `Bearer ${secrets[holder]}` },
    });
    // Who may ask is told that it has not said about which request.
    expect(answer.status).toBe(status);
  });

  it('a producer emits, and cannot make itself a key', async () => {
    const as = (holder: Holder, path: string, body: object) =>
      sendRequest({
        method: 'POST',
        url: `${api.internalUrl}${path}`,
        headers: { Authorization: `Bearer ${secrets[holder]}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    const { body } = await as('service', '/internal/v1/organizations', { name: 'Acme', plan: 'pro' });
    const event = { organization_id: body.id, type: 'batch.completed', data: { batch_id: 'bat_1' } };
    for (const holder of ['producer', 'the next producer', 'service'] as const) {
      expect((await as(holder, emission.path, event)).status).toBe(202);
    }
    expect((await as('ingress', emission.path, event)).status).toBe(403);
    const key = { name: 'mine', scopes: ['*'] };
    expect((await as('producer', `/internal/v1/organizations/${body.id}/keys`, key)).status).toBe(403);
  });
});
