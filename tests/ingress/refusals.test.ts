import { areaCatalogue, areaNames } from '@enterprise-api/shared/contracts';
import { ingressNames } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exchange, type RawAnswer, type RawRequest } from './raw-exchange.ts';
import { type IngressStage, openIngressStage } from './stage.ts';

/** What is wrong with a request, and the code that the API answers. */
interface Wrong {
  name: string;
  code: string;
  /** The key, made once for all areas. */
  key?: (client: IngressStage['client']) => Promise<string>;
  change?: (request: RawRequest, key: string) => RawRequest;
}

const requestId = ['X-Request-Id', 'test.request-1'] as const;

const wrongs: readonly Wrong[] = [
  { name: 'no key', code: 'unauthorized', change: (request) => ({ ...request, headers: [requestId] }) },
  { name: 'a malformed key', code: 'unauthorized', key: async () => 'nwk_garbage' },
  { name: 'another scheme', code: 'unauthorized', change: withAuthorization((key) => `Basic ${key}`) },
  {
    name: 'a revoked key',
    code: 'unauthorized',
    key: async (client) => {
      const { id, secret } = await makeKey(client);
      await client.internal('DELETE', `/internal/v1/keys/${id}`);
      return secret;
    },
  },
  { name: 'an expired key', code: 'unauthorized', key: keyWith({ expires_at: '2020-01-01T00:00:00Z' }) },
  { name: 'a foreign address', code: 'ip_not_allowed', key: keyWith({ ip_allowlist: ['203.0.113.7'] }) },
  {
    name: 'the plan starter',
    code: 'plan_no_api_access',
    key: async (client) => {
      const { organization_id, secret } = await makeKey(client);
      await client.internal('PATCH', `/internal/v1/organizations/${organization_id}`, { plan: 'starter' });
      return secret;
    },
  },
  { name: 'a key without the scope', code: 'forbidden_scope', key: keyWith({ scopes: ['me:read'] }) },
  {
    name: 'another method',
    code: 'method_not_allowed',
    change: (request) => ({ ...request, method: 'PROPFIND' }),
  },
  {
    name: 'a dot segment',
    code: 'validation_failed',
    change: (request) => ({ ...request, target: `${request.target}/../x` }),
  },
];

describe.each(ingressNames)('a request that the API refuses, through %s', (ingressName) => {
  let stage: IngressStage;
  const keys = new Map<string, string>();
  beforeAll(async () => {
    stage = await openIngressStage(ingressName);
    for (const wrong of wrongs) keys.set(wrong.name, await (wrong.key ?? keyWith({}))(stage.client));
  });
  afterAll(async () => stage?.[Symbol.asyncDispose]());

  const bothAnswers = async (request: RawRequest, prepare = async () => undefined as unknown) => {
    await prepare();
    const direct = await exchange(stage.direct, request);
    await prepare();
    return { direct, answer: await exchange(stage.front, request) };
  };

  describe.each(areaNames)('%s', (area) => {
    it.each(wrongs)('gets with $name the status, the headers and the body of the API', async (wrong) => {
      const key = keys.get(wrong.name) as string;
      const request = (wrong.change ?? ((same) => same))(correctRequest(area, key), key);
      const { direct, answer } = await bothAnswers(request);
      expect(codeOf(direct.body)).toBe(wrong.code);
      expect(comparable(answer)).toEqual(comparable(direct));
      expect(stage.upstream.requests).toEqual([]);
    });

    it('gets over the limit the status, the headers and the body of the API', async () => {
      const { id } = await stage.client.createOrganization('pro');
      const { secret } = await stage.client.createKey(id);
      const useUp = () =>
        exchange(stage.direct, { target: '/v1/me', headers: [['Authorization', `Bearer ${secret}`]] });
      const { direct, answer } = await bothAnswers(correctRequest(area, secret), useUp);
      expect(direct.status).toBe(429);
      expect(comparable(answer)).toEqual(comparable(direct));
      expect(stage.upstream.requests).toEqual([]);
    });
  });

  it('is refused for the address of its client, whatever the client says of it', async () => {
    const key = await keyWith({ ip_allowlist: ['203.0.113.7'] })(stage.client);
    const { target, headers = [] } = correctRequest('consultations', key);
    for (const claim of [
      'X-Forwarded-For: 203.0.113.7',
      'Forwarded: for=203.0.113.7',
      'X_Forwarded_For: 203.0.113.7',
    ]) {
      const [name = '', value = ''] = claim.split(': ');
      const answer = await exchange(stage.front, { target, headers: [...headers, [name, value]] });
      expect([claim, answer.status]).toEqual([claim, 403]);
    }
  });

  it('is refused when it has two keys: a service could read the other one', async () => {
    const [first, second] = [await keyWith({})(stage.client), await keyWith({})(stage.client)];
    const { target, headers = [] } = correctRequest('consultations', first);
    const answer = await exchange(stage.front, {
      target,
      headers: [...headers, ['Authorization', `Bearer ${second}`]],
    });
    // nginx takes a second Authorization for a malformed request, before it asks.
    expect(answer.status).toBe(ingressName === 'nginx' ? 400 : 401);
    expect(stage.upstream.requests).toEqual([]);
  });

  it('counts once, also where the ingress asks twice', async () => {
    const { id } = await stage.client.createOrganization('business');
    const { secret } = await stage.client.createKey(id, { scopes: ['me:read'] });
    const remaining: number[] = [];
    for (let count = 0; count < 4; count++) {
      const { headers } = await exchange(stage.front, correctRequest('consultations', secret));
      remaining.push(Number(Object.fromEntries(headers)['x-ratelimit-remaining']));
    }
    // A new minute may begin between two of them.
    const steps = remaining.slice(1).map((now, index) => (remaining[index] as number) - now);
    expect(steps.filter((step) => step !== 1).length).toBeLessThanOrEqual(1);
  });
});

/** A request that the API would grant to a key that may do everything. */
function correctRequest(area: (typeof areaNames)[number], key: string): RawRequest {
  const { path, below, scopes } = areaCatalogue[area];
  const method = Object.keys(scopes).at(-1) ?? 'GET';
  const headers = [requestId, ['Authorization', `Bearer ${key}`]] as const;
  return { method: method === 'HEAD' ? 'GET' : method, target: below ? `${path}/x1` : path, headers };
}

function withAuthorization(value: (key: string) => string): Required<Wrong>['change'] {
  return (request, key) => ({ ...request, headers: [requestId, ['Authorization', value(key)]] });
}

async function makeKey(client: IngressStage['client'], fields: object = {}) {
  const { id } = await client.createOrganization();
  return client.createKey(id, fields);
}

function keyWith(fields: object): Required<Wrong>['key'] {
  return async (client) => (await makeKey(client, fields)).secret;
}

/** The code of an error, in the shape of the API or of SCIM. */
function codeOf(body: string): string {
  const { error, detail } = JSON.parse(body) as { error?: { code: string }; detail?: string };
  return error?.code ?? detail?.split(':', 1)[0] ?? body;
}

/** Headers of one connection or one server. */
const ownHeaders = new Set(['connection', 'keep-alive', 'date', 'server', 'transfer-encoding', 'content-length']);

/** An answer without what differs between two answers to the same request. */
function comparable({ status, headers, body }: RawAnswer): object {
  const withoutCounts = ([name, value]: [string, string]): [string, string] =>
    /^(x-)?ratelimit|^retry-after$/.test(name) ? [name, value.replaceAll(/\d+/g, 'n')] : [name, value];
  return {
    status,
    headers: headers.filter(([name]) => !ownHeaders.has(name)).map(withoutCounts),
    body: body.replace(/"retry_after":\d+/, '"retry_after":n').replaceAll(/\d+ seconds?/g, 'n seconds'),
  };
}
