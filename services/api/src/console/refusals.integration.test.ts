import { startRedis } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request, { type Test } from 'supertest';
import {
  askConsole,
  type ConsoleMethod,
  codeOf,
  enterSession,
  mintSession,
  useLink,
} from '../testing/console-client.ts';
import { everyRoute } from '../testing/route-list.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { ownConsoleRoutes } from './own-routes.ts';

const origin = 'https://console.example.test';
const allowed = '203.0.113.7';
const elsewhere = '198.51.100.7';
let api: TestApi;
let organizationId: string;
beforeAll(async () => {
  const environment = { CONSOLE_RATE_LIMIT: '2', API_TRUSTED_PROXIES: '127.0.0.1', API_AUTH_FAILURES: '10000' };
  api = await startTestApi({ environment });
});
afterAll(() => api.stop());
beforeEach(async () => {
  organizationId = (await api.createOrganization()).id;
});

const enterFrom = async (address: string, body: object = {}) => {
  const session = await mintSession(api, organizationId, body);
  const { headers } = await useLink(api, session.token).set('X-Forwarded-For', address).expect(200);
  return { ...session, cookie: headers['set-cookie']?.[0]?.split(';')[0] as string };
};
const enter = (body: object = {}) => enterSession(api, mintSession(api, organizationId, body));
const ask = (method: ConsoleMethod, path: string, cookie?: string) =>
  askConsole(api, method, `/${organizationId}${path}`, cookie);

/** `429`, or the code of the error. */
const outcomeOf = async (test: Test) => {
  const answer = await test;
  return answer.status < 300 ? answer.status : codeOf(answer);
};
const remaining = async (cookie: string) =>
  (await ask('get', '/session', cookie).expect(200)).headers['x-ratelimit-remaining'];

describe('a request that is wrong twice', () => {
  const everything = { scopes: ['*'] };
  const toStarter = () =>
    api.internal('patch', `/internal/v1/organizations/${organizationId}`).send({ plan: 'starter' }).expect(200);
  const useUp = async (cookie: string) => {
    for (let count = 0; count < 2; count++) {
      await ask('get', '/session', cookie).set('X-Forwarded-For', allowed).expect(200);
    }
  };
  const from = (address: string, test: Test) => test.set('X-Forwarded-For', address);

  it('is refused for its origin before its session is looked for', async () => {
    for (const cookie of [undefined, `__Host-console-${organizationId}=${'x'.repeat(43)}`]) {
      expect(await outcomeOf(ask('get', '/session', cookie).unset('X-Console'))).toBe('forbidden_origin');
      expect(await outcomeOf(ask('get', '/session', cookie).set('Origin', 'https://evil.test'))).toBe(
        'forbidden_origin',
      );
      expect(await outcomeOf(ask('get', '/session', cookie))).toBe('unauthorized');
    }
    const { token } = await mintSession(api, organizationId, { ip_allowlist: [allowed] });
    expect(await outcomeOf(useLink(api, token).unset('X-Console'))).toBe('forbidden_origin');
    expect(await outcomeOf(useLink(api, token))).toBe('ip_not_allowed');
  });

  it('is refused for its address before its plan, the limit and its scope, and is not counted', async () => {
    const { cookie } = await enterFrom(allowed, { ...everything, ip_allowlist: [allowed] });
    const { cookie: weak } = await enterFrom(allowed, { scopes: ['me:read'], ip_allowlist: [allowed] });
    await toStarter();
    expect(await outcomeOf(from(allowed, ask('post', '/v1/webhooks', cookie)))).toBe('plan_no_api_access');
    for (const each of [cookie, weak]) {
      expect(await outcomeOf(from(elsewhere, ask('post', '/v1/webhooks', each)))).toBe('ip_not_allowed');
      expect(await outcomeOf(from(elsewhere, ask('get', '/v1/webhooks', each)))).toBe('ip_not_allowed');
    }
    await useUp(cookie);
    expect(await outcomeOf(from(elsewhere, ask('get', '/v1/webhooks', cookie)))).toBe('ip_not_allowed');
    expect(await outcomeOf(from(allowed, ask('get', '/v1/webhooks', cookie)))).toBe('rate_limited');
  });

  it('is refused for its plan before the limit and its scope, and is not counted', async () => {
    const [strong, weak] = [await enter(everything), await enter({ scopes: ['me:read'] })];
    await toStarter();
    const write = (cookie: string) => outcomeOf(ask('post', '/v1/webhooks', cookie).send({}));
    for (const { cookie } of [strong, weak, strong]) expect(await write(cookie)).toBe('plan_no_api_access');
    await useUp(strong.cookie);
    for (const { cookie } of [strong, weak]) expect(await write(cookie)).toBe('plan_no_api_access');
  });

  it('is refused for the limit before its scope, its path and its bodies', async () => {
    const [blind, weak] = [
      await enter({ show_bodies: false }),
      await enter({ scopes: ['me:read'], show_bodies: false }),
    ];
    expect(await outcomeOf(ask('get', '/v1/webhooks', weak.cookie))).toBe('forbidden_scope');
    expect(await outcomeOf(ask('get', '/v1/events?q=secret', weak.cookie))).toBe('forbidden_scope');
    for (const { cookie } of [blind, weak]) {
      for (const path of ['/v1/webhooks', '/v1/events?q=secret', '/nowhere']) {
        expect(await outcomeOf(ask('get', path, cookie))).toBe('rate_limited');
      }
    }
    expect(await outcomeOf(ask('get', '/v1/webhooks', weak.cookie).unset('X-Console'))).toBe('forbidden_origin');
    expect(await outcomeOf(ask('get', '/v1/webhooks'))).toBe('unauthorized');
  });

  it('is counted as by /v1: once it may use the API, whatever is wrong behind', async () => {
    const { cookie } = await enter({ ...everything });
    await ask('get', '/session', cookie).unset('X-Console').expect(403);
    await ask('get', '/session').expect(401);
    expect(await remaining(cookie)).toBe('1');
    await ask('get', '/nowhere', cookie).expect(404);
    await ask('get', '/session', cookie).expect(429);
  });
});

describe('CONSOLE_RATE_LIMIT', () => {
  it("counts an organization's sessions together in all processes, apart from its keys and from others", async () => {
    await using redis = await startRedis();
    const environment = { CONSOLE_RATE_LIMIT: '3', API_RATE_LIMITS: 'enterprise=3', REDIS_URL: redis.url };
    const processes = await Promise.all(
      Array.from({ length: 2 }, () => startTestApi({ database: api.database, environment })),
    );
    const [one, two] = processes as [TestApi, TestApi];
    try {
      const [first, second] = [await enter(), await enter()];
      const key = await api.createKey({ organizationId });
      const other = await api.createOrganization();
      const foreign = await enterSession(api, mintSession(api, other.id));
      const read = (on: TestApi, session: typeof first) =>
        askConsole(on, 'get', `/${session.organization_id}/session`, session.cookie);
      const left = async (test: Test) => (await test.expect(200)).headers['x-ratelimit-remaining'];
      expect(await left(read(one, first))).toBe('2');
      expect(await left(one.call('get', '/v1/me', key.secret))).toBe('2');
      expect(await left(read(two, second))).toBe('1');
      expect(await left(read(one, second))).toBe('0');
      for (const [on, session] of [
        [one, first],
        [two, first],
        [two, second],
      ] as const) {
        expect(codeOf(await read(on, session).expect(429))).toBe('rate_limited');
      }
      expect(await left(read(two, foreign))).toBe('2');
      expect(await left(two.call('get', '/v1/me', key.secret))).toBe('1');
    } finally {
      await Promise.all(processes.map((each) => each.stop()));
    }
  });
});

describe('a request that another origin caused', () => {
  const everyConsoleRoute = [
    ...everyRoute().filter(({ path }) => /^\/v1\/(?!console-sessions)/.test(path)),
    ...ownConsoleRoutes({} as never),
    { method: 'GET', path: '/nowhere', ids: {} },
  ];

  it('is 403 on every route and method, whatever else is right', async () => {
    const { cookie } = await enter({ scopes: ['*', 'keys:read', 'keys:write'] });
    const wrong = {
      'Sec-Fetch-Site': ['cross-site', 'same-site', 'none', 'same-origin, cross-site', ''],
      'X-Console': ['0', 'true', '1, 1', ''],
      Origin: ['null', 'https://evil.test', `${origin}.evil.test`, `${origin}:8443`, origin.replace('https', 'http')],
    };
    for (const { method, path, ids } of everyConsoleRoute) {
      const id = (name: string) => `${(ids as Record<string, string>)[name]}_01jd6kz5r8e2v9qxm3c7t4b0na`;
      const url = path.replace(/\{(\w+)\}/g, (_, name) => id(name));
      for (const [name, values] of Object.entries(wrong)) {
        for (const value of values) {
          const test = ask(method.toLowerCase() as ConsoleMethod, url, cookie).set(name, value);
          expect([method, path, name, value, await outcomeOf(test)]).toEqual([
            method,
            path,
            name,
            value,
            'forbidden_origin',
          ]);
        }
      }
    }
    const right = { 'Sec-Fetch-Site': 'same-origin', Origin: origin };
    await ask('get', '/session', cookie).set(right).expect(200);
  });

  it('gets no Access-Control header from any answer, and its preflight is refused', async () => {
    const { cookie } = await enter();
    const { token } = await mintSession(api, organizationId);
    const paths = ['/console', '/console/enter', '/console/config.json', '/console/assets/none.js', '/console/nowhere'];
    const preflight = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'x-console' };
    const cors = ({ headers }: { headers: object }) =>
      Object.keys(headers).filter((name) => /^access-control/i.test(name));
    for (const from of ['https://evil.test', 'null', origin]) {
      const answers = await Promise.all([
        ...paths.map((path) => request(api.publicUrl).get(path).set('Origin', from)),
        ask('get', '/session', cookie).set('Origin', from),
        ask('get', '/session').set('Origin', from),
        ask('get', '/nowhere', cookie).set('Origin', from),
        useLink(api, token).set('Origin', from),
      ]);
      expect(answers.flatMap(cors)).toEqual([]);
      for (const path of [...paths, '/console/api/enter', `/console/api/${organizationId}/session`]) {
        const asked = request(api.publicUrl)
          .options(path)
          .set({ Origin: from, ...preflight });
        const refused = await asked.set('Cookie', cookie);
        expect([path, refused.status]).toEqual([path, path.startsWith('/console/api/') ? 403 : 405]);
        expect(cors(refused)).toEqual([]);
      }
    }
  });
});

describe('an answer that is no page', () => {
  it('is never stored, not by a miss or a wrong method either', async () => {
    const { cookie } = await enter();
    const get = (path: string) => request(api.publicUrl).get(path);
    const answers: [number, Test][] = [
      [200, get('/console/config.json')],
      [404, get('/console/assets/none.js')],
      [404, get('/console/nowhere')],
      [404, get('/console/org_short/webhooks')],
      [405, request(api.publicUrl).post('/console')],
      [405, request(api.publicUrl).delete('/console/config.json')],
      [405, request(api.publicUrl).put('/console/assets/none.js')],
      [405, askConsole(api, 'get', '/enter')],
      [400, askConsole(api, 'post', '/enter').send({})],
      [401, useLink(api, 'x'.repeat(43))],
      [403, useLink(api, 'x'.repeat(43)).unset('X-Console')],
      [200, ask('get', '/session', cookie)],
      [404, ask('get', '/nowhere', cookie)],
      [429, ask('get', '/session', cookie)],
      [400, get('/console/%00')],
    ];
    for (const [status, test] of answers) {
      const answer = await test;
      expect([test.url, answer.status, answer.headers['cache-control']]).toEqual([test.url, status, 'no-store']);
    }
  });
});
