import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { projectFolder, until, untilLockWait } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import request, { type Test } from 'supertest';
import { generateKey } from '../auth/key-format.ts';
import {
  askConsole,
  type ConsoleMethod,
  codeOf,
  cookiesOf,
  enterSession,
  mintSession,
  useLink,
} from '../testing/console-client.ts';
import { everyRoute } from '../testing/route-list.ts';
import { insertAttempt, insertDelivery } from '../testing/rows.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { ownConsoleRoutes } from './own-routes.ts';
import { deleteOldSessions } from './service.ts';

const origin = 'https://console.example.test';
let api: TestApi;
let organizationId: string;
beforeAll(async () => {
  await promisify(execFile)(process.execPath, [join(projectFolder, 'packages/console/build.ts')]);
  api = await startTestApi({
    environment: { CONSOLE_SIGN_IN_URL: 'https://owner.test/in', API_AUTH_FAILURES: '10000' },
  });
});
afterAll(() => api.stop());
beforeEach(async () => {
  organizationId = (await api.createOrganization()).id;
});

const unknownId = '01jd6kz5r8e2v9qxm3c7t4b0na';
const all = ['*', 'keys:read', 'keys:write'];

const mint = (body: object = {}, organization = organizationId) => mintSession(api, organization, body);

/** Every route that the cookie of a session opens, from the product's tables. */
const servedRoutes = [
  ...everyRoute().filter(
    ({ path, operationId }) =>
      /^\/v1\/(?!console-sessions)/.test(path) && !['getMe', 'revokeOwnKey'].includes(operationId),
  ),
  ...ownConsoleRoutes({} as never),
].map(({ method, path, scope, ids }) => {
  const prefixes = ids as Record<string, string>;
  return `${method.toLowerCase()} ${path.replace(/\{(\w+)\}/g, (_, name) => `{${prefixes[name]}}`)} ${scope}`;
});

type Effect = 'reads' | 'changes' | 'ends';

/**
 * The same, written a second time: a route with another scope must be changed here too. On the plan Starter, a session
 * may use what reads, and what ends a session or a key.
 */
const consoleRoutes: readonly [ConsoleMethod, path: string, scope: string | null, Effect][] = [
  ['get', '/keys', 'keys:read', 'reads'],
  ['post', '/keys', 'keys:write', 'changes'],
  ['get', '/keys/{key}', 'keys:read', 'reads'],
  ['patch', '/keys/{key}', 'keys:write', 'changes'],
  ['delete', '/keys/{key}', 'keys:write', 'ends'],
  ['get', '/audit', 'webhooks:read', 'reads'],
  ['get', '/v1/me', 'me:read', 'reads'],
  ['get', '/v1/erasures', 'webhooks:read', 'reads'],
  ['get', '/v1/events', 'webhooks:read', 'reads'],
  ['get', '/v1/events/stream', 'webhooks:read', 'reads'],
  ['get', '/v1/events/{evt}/explain', 'webhooks:read', 'reads'],
  ['get', '/v1/events/{evt}', 'webhooks:read', 'reads'],
  ['get', '/v1/usage', 'usage:read', 'reads'],
  ['get', '/v1/webhooks', 'webhooks:read', 'reads'],
  ['post', '/v1/webhooks', 'webhooks:write', 'changes'],
  ['get', '/v1/webhooks/deliveries', 'webhooks:read', 'reads'],
  ['get', '/v1/webhooks/deliveries/{dlv}', 'webhooks:read', 'reads'],
  ['post', '/v1/webhooks/deliveries/{dlv}/retry', 'webhooks:write', 'changes'],
  ['get', '/v1/webhooks/delivery-policy', 'webhooks:read', 'reads'],
  ['get', '/v1/webhooks/event-types', 'webhooks:read', 'reads'],
  ['post', '/v1/webhooks/explain', 'webhooks:read', 'reads'],
  ['get', '/v1/webhooks/health', 'webhooks:read', 'reads'],
  ['get', '/v1/webhooks/replays', 'webhooks:read', 'reads'],
  ['get', '/v1/webhooks/replays/{rpl}', 'webhooks:read', 'reads'],
  ['post', '/v1/webhooks/replays/{rpl}/cancel', 'webhooks:write', 'changes'],
  ['get', '/v1/webhooks/source-addresses', 'webhooks:read', 'reads'],
  ['get', '/v1/webhooks/statistics', 'webhooks:read', 'reads'],
  ['delete', '/v1/webhooks/{whk}', 'webhooks:write', 'changes'],
  ['patch', '/v1/webhooks/{whk}', 'webhooks:write', 'changes'],
  ['put', '/v1/webhooks/{whk}', 'webhooks:write', 'changes'],
  ['get', '/v1/webhooks/{whk}', 'webhooks:read', 'reads'],
  ['get', '/v1/webhooks/{whk}/health', 'webhooks:read', 'reads'],
  ['post', '/v1/webhooks/{whk}/pause', 'webhooks:write', 'changes'],
  ['post', '/v1/webhooks/{whk}/replay', 'webhooks:write', 'changes'],
  ['post', '/v1/webhooks/{whk}/resume', 'webhooks:write', 'changes'],
  ['post', '/v1/webhooks/{whk}/rotate-secret', 'webhooks:write', 'changes'],
  ['post', '/v1/webhooks/{whk}/test', 'webhooks:write', 'changes'],
  ['post', '/v1/webhooks/{whk}/verify-signature', 'webhooks:read', 'reads'],
  ['get', '/session', null, 'reads'],
  ['delete', '/session', null, 'ends'],
];
const unserved: (typeof consoleRoutes)[number] = ['get', '/nowhere', null, 'reads'];

const ask = (method: ConsoleMethod, path: string, cookie?: string) => askConsole(api, method, path, cookie);

/** Of an object that does not exist. */
const urlOf = (path: string) => `/${organizationId}${path.replace(/\{(\w+)\}/g, `$1_${unknownId}`)}`;

const enter = (token: string, cookie?: string) => useLink(api, token, cookie);
const look = (token: string) => ask('post', '/enter').send({ token, look: true });
const enterWith = (body: object = {}, organization = organizationId) => enterSession(api, mint(body, organization));

const policy = new Set([
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
]);

function setTimes(id: string, times: { expires_at?: Date; ended_at?: Date }) {
  const query = api.db.updateTable('console_sessions').set(times);
  return query.where('id', '=', fromPublicId('ses', id) as string).execute();
}

describe('POST …/console-sessions', () => {
  it('201 with a link that works once, of which only a hash is stored', async () => {
    const { token, url, ...session } = await mint({ label: 'Ada', scopes: all });
    expect(url).toMatch(/^https:\/\/console\.example\.test\/console\/enter#[A-Za-z0-9_-]{43}$/);
    expect(session).toMatchObject({ object: 'console_session', label: 'Ada', scopes: all, show_bodies: true });
    const rows = JSON.stringify(await api.db.selectFrom('console_sessions').selectAll().execute());
    expect(rows).not.toContain(token);
    const { body, headers } = await enter(token).expect(200);
    expect(body).toEqual({ organization_id: organizationId, path: `/console/${organizationId}` });
    expect(cookiesOf(headers)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^__Host-console-${organizationId}=[\\w-]{43}; HttpOnly; Secure; Path=/; SameSite=Strict; Max-Age=3\\d{3}$`,
        ),
      ),
    ]);
    expect(codeOf(await enter(token).expect(401))).toBe('unauthorized');
  });

  it('keeps the filters of its path out of the audit log', async () => {
    const path = `/console/${organizationId}/deliveries`;
    const { token, id } = await mint({ path: `${path}?subject=con_17` });
    expect((await enter(token).expect(200)).body.path).toBe(`${path}?subject=con_17`);
    const { body, text } = await api.internal('get', `/internal/v1/audit?object_id=${id}`).expect(200);
    expect(body.data.at(-1).changes.path).toEqual({ from: null, to: path });
    expect(text).not.toContain('con_17');
  });

  it('400 with an Idempotency-Key: no stored answer keeps the filters of its path', async () => {
    const body = { path: `/console/${organizationId}/deliveries?subject=con_17` };
    const path = `/internal/v1/organizations/${organizationId}/console-sessions`;
    await api.internal('post', path).set('Idempotency-Key', 'x').send(body).expect(400);
    const { secret } = await api.createKey({ organizationId });
    await api.call('post', '/v1/console-sessions', secret).set('Idempotency-Key', 'x').send(body).expect(400);
  });

  it('by key: never more than the key has, and keys:* never', async () => {
    const key = await api.createKey({ organizationId, scopes: ['me:read', 'webhooks:read'] });
    const post = (body: object, secret = key.secret) => api.call('post', '/v1/console-sessions', secret).send(body);
    const { body } = await post({}).expect(201);
    expect(body.scopes).toEqual(['me:read', 'webhooks:read']);
    const refused = await post({ scopes: ['webhooks:write'] }).expect(403);
    expect(refused.body.error).toMatchObject({ code: 'forbidden_scope', required_scope: 'webhooks:write' });
    const full = await api.createKey({ organizationId });
    await post({ scopes: ['*'] }, full.secret).expect(201);
    await post({ scopes: ['keys:read'] }, full.secret).expect(403);
    await api.call('post', '/v1/console-sessions', full.secret).set('Idempotency-Key', 'x').send({}).expect(400);
  });

  it.each([
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['me:write'] }, 'scopes[0]'],
    [{ expires_in: 299 }, 'expires_in'],
    [{ expires_in: 43_201 }, 'expires_in'],
    [{ link_expires_in: 29 }, 'link_expires_in'],
    [{ link_expires_in: 601 }, 'link_expires_in'],
    [{ label: 'x'.repeat(101) }, 'label'],
    [{ label: 'a\u202eb' }, 'label'],
    [{ label: '' }, 'label'],
    [{ path: `/console/org_${unknownId}` }, 'path'],
    [{ path: '/console/x/../y' }, 'path'],
    [{ path: '//evil.test' }, 'path'],
    [{ ip_allowlist: ['10/8'] }, 'ip_allowlist[0]'],
    [{ show_bodies: false, scopes: ['webhooks:write'] }, 'scopes[0]'],
    [{ show_bodies: false, scopes: ['me:read', '*'] }, 'scopes[1]'],
    [{ token: 'mine' }, 'token'],
  ])('400 for %j', async (body, param) => {
    const path = `/internal/v1/organizations/${organizationId}/console-sessions`;
    const answer = await api.internal('post', path).send(body).expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param });
  });

  it('201 for the smallest and the largest values, and 400 for a longer path', async () => {
    const path = `/console/${organizationId}/`.padEnd(500, 'x');
    const largest = { expires_in: 43_200, link_expires_in: 600, label: 'x'.repeat(100), path };
    for (const body of [{ expires_in: 300, link_expires_in: 30 }, largest]) {
      const { expires_at, link_expires_at } = await mint(body);
      const seconds = Math.round((Date.parse(expires_at) - Date.parse(link_expires_at)) / 1_000);
      expect(seconds).toBe(body.expires_in - body.link_expires_in);
    }
    const sessions = `/internal/v1/organizations/${organizationId}/console-sessions`;
    const refused = await api
      .internal('post', sessions)
      .send({ path: `${path}x` })
      .expect(400);
    expect(refused.body.error.param).toBe('path');
  });

  it('409 limit_reached beyond 100 live sessions', async () => {
    for (let count = 0; count < 100; count++) await mint();
    const path = `/internal/v1/organizations/${organizationId}/console-sessions`;
    const refused = await api.internal('post', path).send({}).expect(409);
    expect(codeOf(refused)).toBe('limit_reached');
  });
});

describe('GET and DELETE …/console-sessions', () => {
  it('show each state without the link; a key sees and ends its own alone', async () => {
    const key = await api.createKey({ organizationId });
    const own = (await api.call('post', '/v1/console-sessions', key.secret).send({}).expect(201)).body;
    const entered = await enterWith();
    const path = `/internal/v1/organizations/${organizationId}/console-sessions`;
    const { body, text } = await api.internal('get', path).expect(200);
    expect(body.data.map(({ id, state }: Record<string, string>) => [id, state])).toEqual([
      [entered.id, 'entered'],
      [own.id, 'open'],
    ]);
    expect(text).not.toContain('#');
    const seen = await api.call('get', '/v1/console-sessions', key.secret).expect(200);
    expect(seen.body.data.map(({ id }: { id: string }) => id)).toEqual([own.id]);
    await api.call('delete', `/v1/console-sessions/${entered.id}`, key.secret).expect(404);
    await api.call('delete', `/v1/console-sessions/${own.id}`, key.secret).expect(204);
    await api.call('delete', `/v1/console-sessions/${own.id}`, key.secret).expect(404);
    await enter(own.url.split('#')[1]).expect(401);
    await ask('get', `/${organizationId}/session`, entered.cookie).expect(200);
    await api.internal('delete', `${path}/${entered.id}`).expect(204);
    await ask('get', `/${organizationId}/session`, entered.cookie).expect(401);
    await api.internal('delete', `${path}/${entered.id}`).expect(404);
  });

  it('are about sessions that were ended, or would have expired, less than 30 days ago', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
    const gone = [{ ended_at: daysAgo(30.01) }, { expires_at: daysAgo(30.01) }];
    const kept = [{ ended_at: daysAgo(29.99) }, { expires_at: daysAgo(29.99) }, {}];
    const ids: string[] = [];
    for (const times of [...gone, ...kept]) {
      const { id } = await mint();
      if (Object.keys(times).length > 0) await setTimes(id, times);
      ids.push(id);
    }
    await deleteOldSessions(api.db, 1_000);
    const path = `/internal/v1/organizations/${organizationId}/console-sessions`;
    const { body } = await api.internal('get', path).expect(200);
    expect(body.data.map(({ id }: { id: string }) => id).sort()).toEqual(ids.slice(gone.length).sort());
  });
});

describe('POST /console/api/enter', () => {
  it('lets one of 50 at once enter, and shows the reuse in the session and the audit log', async () => {
    const { id, token } = await mint();
    const answers = await Promise.all(Array.from({ length: 50 }, () => enter(token)));
    const entered = answers.filter(({ status }) => status === 200);
    expect(entered).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401]));
    const cookie = cookiesOf(entered[0]?.headers as object as Record<string, unknown>)[0]?.split(';')[0] as string;
    const { body } = await ask('get', `/${organizationId}/session`, cookie).expect(200);
    expect(body.link_reused_at).not.toBeNull();
    const entries = await api.internal('get', `/internal/v1/audit?object_id=${id}&limit=100`).expect(200);
    const actions = entries.body.data.map(({ action, actor }: Record<string, string>) => `${action} ${actor}`);
    expect(actions.at(-1)).toBe('console_session.created internal');
    expect(actions.filter((action: string) => action === `console_session.entered ${id}`)).toHaveLength(1);
    expect(actions).toContain(`console_session.link_reused ${id}`);
  });

  it('uses up no link by GET, from elsewhere, or from an address outside the allowlist', async () => {
    const { token } = await mint();
    await request(api.publicUrl)
      .get(`/console/enter?token=${token}`)
      .expect((answer) => expect(answer.status).not.toBe(500));
    await ask('get', '/enter').expect(405);
    const foreign = [
      request(api.publicUrl).post('/console/api/enter').send({ token }),
      enter(token).set('Origin', 'https://evil.test'),
      enter(token).set('Sec-Fetch-Site', 'cross-site'),
      enter(token).set('Sec-Fetch-Site', 'same-site'),
    ];
    for (const test of foreign) expect(codeOf(await test.expect(403))).toBe('forbidden_origin');
    await enter(token).set('Origin', origin).set('Sec-Fetch-Site', 'same-origin').expect(200);
    const { token: kept } = await mint();
    await enter(kept).set('Idempotency-Key', 'x').expect(400);
    await enter(kept).expect(200);
    const elsewhere = await mint({ ip_allowlist: ['203.0.113.9'] });
    for (let count = 0; count < 2; count++) {
      expect(codeOf(await enter(elsewhere.token).expect(403))).toBe('ip_not_allowed');
    }
    const uuid = fromPublicId('ses', elsewhere.id) as string;
    const used = { cookie_hash: Buffer.alloc(32), entered_at: new Date() };
    await api.db.updateTable('console_sessions').set(used).where('id', '=', uuid).execute();
    await enter(elsewhere.token).expect(401);
    const row = await api.db
      .selectFrom('console_sessions')
      .select('link_reused_at')
      .where('id', '=', uuid)
      .executeTakeFirstOrThrow();
    expect(row.link_reused_at).not.toBeNull();
  });

  it('says whom a link is for to those who look; only one of those who enter meanwhile gets in', async () => {
    const label = '<script>hacked=1</script> "&amp; \u200bאבא __proto__';
    const { token } = await mint({ label });
    for (let count = 0; count < 3; count++) expect((await look(token).expect(200)).body).toEqual({ label });
    const calls = Array.from({ length: 20 }, (_, nth) => (nth % 2 === 0 ? look(token) : enter(token)));
    const answers = await Promise.all(calls);
    const [looks, entries] = [0, 1].map((rest) => answers.filter((_, nth) => nth % 2 === rest));
    expect(entries?.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status, body } of looks ?? []) {
      expect(status === 200 ? body : codeOf({ body })).toEqual(status === 200 ? { label } : 'unauthorized');
    }
    expect(answers.filter(({ headers }) => cookiesOf(headers).length > 0)).toEqual([
      expect.objectContaining({ status: 200, body: { organization_id: organizationId, path: expect.any(String) } }),
    ]);
    expect((await look((await mint()).token).expect(200)).body).toEqual({ label: null });
  });

  it('refuses a look as it refuses to enter, and takes no look for a second use of the link', async () => {
    const { token } = await mint({ label: 'Ada' });
    const url = `/console/api/enter?token=${token}&look=true`;
    expect((await request(api.publicUrl).get(url).set('X-Console', '1').expect(405)).text).not.toContain('Ada');
    await request(api.publicUrl).post('/console/api/enter').send({ token, look: true }).expect(403);
    await look(token).set('Origin', 'https://evil.test').expect(403);
    await look(token).set('Sec-Fetch-Site', 'cross-site').expect(403);
    await look(token).set('Idempotency-Key', 'x').expect(400);
    await ask('post', '/enter').send({ token, look: false }).expect(400);
    const elsewhere = await mint({ label: 'Ada', ip_allowlist: ['203.0.113.9'] });
    expect(codeOf(await look(elsewhere.token).expect(403))).toBe('ip_not_allowed');
    const { headers } = await enter(token).expect(200);
    const unknown = await look('x'.repeat(43)).expect(401);
    const used = await look(token).expect(401);
    expect(used.body.error.message).toBe(unknown.body.error.message);
    const cookie = cookiesOf(headers)[0]?.split(';')[0] as string;
    expect((await ask('get', `/${organizationId}/session`, cookie).expect(200)).body.link_reused_at).toBeNull();
  });

  it('401 for an unknown, a malformed and an expired link; the cookie of a client is never kept', async () => {
    await enter('x'.repeat(43)).expect(401);
    await enter('short').expect(400);
    const { id, token } = await mint();
    const uuid = fromPublicId('ses', id) as string;
    await api.db
      .updateTable('console_sessions')
      .set({ link_expires_at: new Date(0) })
      .where('id', '=', uuid)
      .execute();
    await enter(token).expect(401);
    await look(token).expect(401);
    const fixed = `__Host-console-${organizationId}=${'f'.repeat(43)}`;
    const { headers } = await enter((await mint()).token, fixed).expect(200);
    expect(cookiesOf(headers)[0]).not.toContain('ffff');
    await ask('get', `/${organizationId}/session`, fixed).expect(401);
  });

  it('ends the session that it replaces, and drops the oldest of 20 cookies', async () => {
    const first = await enterWith();
    const others = Array.from({ length: 20 }, (_, index) => `org_${String(index).padStart(26, '0')}`);
    const cookies = [...others.map((id) => `__Host-console-${id}=x`), first.cookie].join('; ');
    const { headers } = await enter((await mint()).token, cookies).expect(200);
    expect(cookiesOf(headers)[0]).toMatch(new RegExp(`^__Host-console-${others[0]}=;.*Max-Age=0$`));
    expect(cookiesOf(headers)).toHaveLength(2);
    await ask('get', `/${organizationId}/session`, first.cookie).expect(401);
  });
});

describe('a session', () => {
  it('reads, writes and tells who it is, with the shapes of /v1', async () => {
    const { cookie, id } = await enterWith({ scopes: all, label: 'Ada' });
    const { body: me } = await ask('get', `/${organizationId}/v1/me`, cookie).expect(200);
    expect(me).toMatchObject({ key: null, session: { id, label: 'Ada' }, organization: { id: organizationId } });
    const webhook = { url: 'https://receiver.example.com/', events: ['*'] };
    const created = await ask('post', `/${organizationId}/v1/webhooks`, cookie).send(webhook).expect(201);
    const listed = await ask('get', `/${organizationId}/v1/webhooks`, cookie).expect(200);
    expect(listed.headers['cache-control']).toBe('no-store');
    expect(listed.body.data).toHaveLength(1);
    const { body } = await ask('get', `/${organizationId}/audit`, cookie).expect(200);
    const actions = body.data.map(({ action, actor }: Record<string, string>) => `${action} ${actor}`);
    expect(actions).toEqual([
      `webhook.created ${id}`,
      `console_session.entered ${id}`,
      'console_session.created operator',
    ]);
    expect(body.data.at(-1).on_behalf_of).toBeNull();
    expect(created.body.secret).toMatch(/^whsec_/);
    await ask('post', `/${organizationId}/v1/console-sessions`, cookie).send({}).expect(404);
    await ask('delete', `/${organizationId}/v1/me/key`, cookie).expect(404);
    await ask('get', `/${organizationId}/v1/consultations`, cookie).expect(404);
  });

  it('must be own, live and strong enough for every route and method, and its request from the console', async () => {
    const home = `/${organizationId}`;
    const [good, left, ended, expired] = await Promise.all(Array.from({ length: 4 }, () => enterWith({ scopes: all })));
    const other = await enterWith({ scopes: all }, (await api.createOrganization()).id);
    const { secret } = await api.createKey({ organizationId });
    await ask('delete', `${home}/session`, left.cookie).expect(204);
    await ask('get', `${home}/session`, ended.cookie).expect(200);
    const minted = `/internal/v1/organizations/${organizationId}/console-sessions`;
    await api.internal('delete', `${minted}/${ended.id}`).expect(204);
    await setTimes(expired.id, { expires_at: new Date(1) });
    const stolen = other.cookie.replace(/org_[0-9a-z]+/, organizationId);
    const refused = [undefined, other.cookie, stolen, left.cookie, ended.cookie, expired.cookie];
    const scopes = [...new Set(consoleRoutes.map(([, , scope]) => scope))].filter((scope) => scope !== null);
    const withScopes = async (given: string[]) => (await enterWith({ scopes: given })).cookie;
    const sessionsOf = async (scope: string) => {
      const others = scopes.filter((each) => each !== scope);
      return { scope, exact: await withScopes([scope]), weaker: await withScopes(others) };
    };
    const sessions = await Promise.all(scopes.map(sessionsOf));
    for (const [method, path, scope] of [...consoleRoutes, unserved]) {
      const send = (cookie?: string) => ask(method, urlOf(path), cookie);
      const outcome = async (test: Test) => {
        const { status, headers, body } = await test;
        return [method, path, status, body.error?.code, headers['cache-control']];
      };
      const refusal = (status: number, code: string) => [method, path, status, code, 'no-store'];
      for (const cookie of refused) expect(await outcome(send(cookie))).toEqual(refusal(401, 'unauthorized'));
      const byKey = send().set('Authorization', `Bearer ${secret}`);
      expect(await outcome(byKey)).toEqual(refusal(401, 'unauthorized'));
      const foreign = [send(good.cookie).unset('X-Console'), send(good.cookie).set('Origin', 'https://evil.test')];
      for (const test of foreign) expect(await outcome(test)).toEqual(refusal(403, 'forbidden_origin'));
      for (const { exact, weaker } of sessions.filter((each) => each.scope === scope)) {
        expect(await outcome(send(weaker))).toEqual(refusal(403, 'forbidden_scope'));
        expect(await outcome(send(exact))).not.toEqual(refusal(403, 'forbidden_scope'));
      }
    }
    await ask('get', `${home}/nowhere`, good.cookie).expect(404);
    // The API remembers this session while it reads.
    await setTimes(good.id, { expires_at: new Date(1) });
    await until('it expires', async () => (await ask('get', `${home}/session`, good.cookie)).status === 401);
  });

  it('has the routes and scopes of this list, and on the plan Starter only those that change nothing', async () => {
    expect(servedRoutes.sort()).toEqual(
      consoleRoutes.map(([method, path, scope]) => `${method} ${path} ${scope}`).sort(),
    );
    const { cookie } = await enterWith({ scopes: all });
    await api.internal('patch', `/internal/v1/organizations/${organizationId}`).send({ plan: 'starter' }).expect(200);
    for (const [method, path, , effect] of consoleRoutes) {
      const { body } = await ask(method, urlOf(path), cookie);
      const isRefused = body.error?.code === 'plan_no_api_access';
      expect([method, path, isRefused]).toEqual([method, path, effect === 'changes']);
    }
  });

  it('finds entries of several actions in the audit log, and those about keys only with keys:read', async () => {
    const { cookie } = await enterWith({ scopes: ['webhooks:read', 'webhooks:write', 'keys:write'] });
    const { cookie: ofKeys } = await enterWith({ scopes: ['webhooks:read', 'keys:read'] });
    const webhook = { url: 'https://receiver.example.com/', events: ['*'] };
    const { body } = await ask('post', `/${organizationId}/v1/webhooks`, cookie).send(webhook).expect(201);
    const key = { name: 'k', scopes: ['webhooks:read'] };
    await ask('post', `/${organizationId}/keys`, cookie).send(key).expect(201);
    await ask('delete', `/${organizationId}/v1/webhooks/${body.id}`, cookie).expect(204);
    const path = `/${organizationId}/audit?action=webhook.created&action=webhook.deleted&action=api_key.created`;
    const found = async (session: string) => {
      const { data } = (await ask('get', path, session).expect(200)).body;
      return data.map(({ action }: { action: string }) => action);
    };
    expect(await found(cookie)).toEqual(['webhook.deleted', 'webhook.created']);
    expect(await found(ofKeys)).toEqual(['webhook.deleted', 'api_key.created', 'webhook.created']);
  });

  it('never opens /v1, and a weaker one gets 403', async () => {
    const { cookie } = await enterWith({ scopes: ['me:read'] });
    await request(api.publicUrl).get('/v1/me').set('Cookie', cookie).set('X-Console', '1').expect(401);
    for (const path of ['/v1/webhooks', '/keys', '/audit']) {
      expect(codeOf(await ask('get', `/${organizationId}${path}`, cookie).expect(403))).toBe('forbidden_scope');
    }
    const reader = await enterWith({ scopes: ['*'] });
    expect(codeOf(await ask('get', `/${organizationId}/keys`, reader.cookie).expect(403))).toBe('forbidden_scope');
    await ask('post', `/${organizationId}/keys`, reader.cookie)
      .send({ name: 'k', scopes: ['me:read'] })
      .expect(403);
  });

  it('ends by itself, with its key, and with what its key loses', async () => {
    const { cookie } = await enterWith();
    const ended = await ask('delete', `/${organizationId}/session`, cookie).expect(204);
    expect(ended.headers['clear-site-data']).toBe('"cache"');
    await ask('get', `/${organizationId}/session`, cookie).expect(401);

    const key = await api.createKey({ organizationId });
    const { body } = await api
      .call('post', '/v1/console-sessions', key.secret)
      .send({ scopes: ['*'] })
      .expect(201);
    const { headers } = await enter(body.url.split('#')[1]).expect(200);
    const own = cookiesOf(headers)[0]?.split(';')[0] as string;
    await ask('get', `/${organizationId}/v1/webhooks`, own).expect(200);
    await api
      .internal('patch', `/internal/v1/keys/${key.id}`)
      .send({ scopes: ['me:read'] })
      .expect(200);
    await ask('get', `/${organizationId}/v1/webhooks`, own).expect(403);
    await api
      .internal('patch', `/internal/v1/keys/${key.id}`)
      .send({ ip_allowlist: ['203.0.113.9'] })
      .expect(200);
    expect(codeOf(await ask('get', `/${organizationId}/v1/me`, own).expect(403))).toBe('ip_not_allowed');
    await api.internal('delete', `/internal/v1/keys/${key.id}`).expect(204);
    await ask('get', `/${organizationId}/v1/me`, own).expect(401);
  });

  it('ends when its key expires', async () => {
    const key = await api.createKey({ organizationId });
    const { body } = await api.call('post', '/v1/console-sessions', key.secret).send({}).expect(201);
    const { headers } = await enter(body.url.split('#')[1]).expect(200);
    const own = cookiesOf(headers)[0]?.split(';')[0] as string;
    const id = fromPublicId('key', key.id) as string;
    const expires_at = new Date(Date.now() - 1_000);
    await api.db.updateTable('api_keys').set({ expires_at }).where('id', '=', id).execute();
    await until('the session has ended', async () => {
      const { status } = await ask('get', `/${organizationId}/session`, own);
      return status === 401;
    });
  });

  it('of a starter plan reads, signs out and revokes keys, and writes nothing', async () => {
    const key = await api.createKey({ organizationId });
    const { cookie } = await enterWith({ scopes: all });
    await api.internal('patch', `/internal/v1/organizations/${organizationId}`).send({ plan: 'starter' }).expect(200);
    await ask('get', `/${organizationId}/v1/webhooks`, cookie).expect(200);
    const usage = await ask('get', `/${organizationId}/v1/usage`, cookie).expect(200);
    expect(usage.body.rate_limit.limit).toBe(0);
    const webhook = { url: 'https://receiver.example.com/', events: ['*'] };
    const refused = await ask('post', `/${organizationId}/v1/webhooks`, cookie).send(webhook).expect(403);
    expect(codeOf(refused)).toBe('plan_no_api_access');
    await ask('delete', `/${organizationId}/keys/${key.id}`, cookie).expect(204);
    await ask('delete', `/${organizationId}/session`, cookie).expect(204);
  });

  it('makes and changes only keys within its scopes', async () => {
    const { cookie } = await enterWith({ scopes: ['me:read', 'keys:read', 'keys:write'] });
    const path = `/${organizationId}/keys`;
    await ask('post', path, cookie)
      .set('Idempotency-Key', 'x')
      .send({ name: 'k', scopes: ['me:read'] })
      .expect(400);
    const { body: key } = await ask('post', path, cookie)
      .send({ name: 'k', scopes: ['me:read'] })
      .expect(201);
    expect(key.secret).toMatch(/^nwk_/);
    await ask('post', path, cookie)
      .send({ name: 'k', scopes: ['*'] })
      .expect(403);
    await ask('post', path, cookie)
      .send({ name: 'k', scopes: ['keys:read'] })
      .expect(400);
    await ask('patch', `${path}/${key.id}`, cookie)
      .send({ scopes: ['webhooks:read'] })
      .expect(403);
    await ask('patch', `${path}/${key.id}`, cookie).send({ name: 'renamed' }).expect(200);
    const beyond = await api.createKey({ organizationId });
    await ask('patch', `${path}/${beyond.id}`, cookie).send({ name: 'mine' }).expect(403);
    const listed = await ask('get', path, cookie).expect(200);
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([beyond.id, key.id]);
    await ask('delete', `${path}/${beyond.id}`, cookie).expect(204);
  });

  it('changes no key whose scopes grow beyond its own meanwhile', async () => {
    const { cookie } = await enterWith({ scopes: ['me:read', 'keys:write'] });
    const key = await api.createKey({ organizationId, scopes: ['me:read'] });
    const path = `/${organizationId}/keys/${key.id}`;
    const refused = await api.db.transaction().execute(async (trx) => {
      const id = fromPublicId('key', key.id) as string;
      await trx
        .updateTable('api_keys')
        .set({ scopes: ['*'] })
        .where('id', '=', id)
        .execute();
      const asked = ask('patch', path, cookie).send({ name: 'mine' });
      const answer = asked.then(({ status }) => status);
      await untilLockWait(api.db);
      return { answer };
    });
    expect(await refused.answer).toBe(403);
  });

  it('is not looked up for an unknown API key', async () => {
    await api.db.transaction().execute(async (trx) => {
      await sql`lock table console_sessions in access exclusive mode`.execute(trx);
      await api.call('get', '/v1/me', generateKey(randomBytes).secret).expect(401);
    });
  });

  it('has a rate limit of its own', async () => {
    const limited = await startTestApi({
      database: api.database,
      environment: { CONSOLE_RATE_LIMIT: '2' },
    });
    try {
      const { cookie } = await enterWith();
      const read = () =>
        request(limited.publicUrl)
          .get(`/console/api/${organizationId}/session`)
          .set('X-Console', '1')
          .set('Cookie', cookie);
      await read().expect(200);
      await read().expect(200);
      expect(codeOf(await read().expect(429))).toBe('rate_limited');
    } finally {
      await limited.stop();
    }
  });
});

describe('bodies', () => {
  async function emit() {
    const event = {
      organization_id: organizationId,
      type: 'batch.completed',
      data: { batch_id: 'b', canary: 'hidden-1' },
    };
    const { body } = await api.internal('post', '/internal/v1/events').send(event).expect(202);
    return body.data[0].id as string;
  }

  it('are null for a session that shows none, and searches and streams are refused', async () => {
    const id = await emit();
    const { cookie } = await enterWith({ show_bodies: false });
    for (const path of [`/v1/events/${id}`, '/v1/events']) {
      const { text, body } = await ask('get', `/${organizationId}${path}`, cookie).expect(200);
      expect(text).not.toContain('hidden-1');
      expect((body.data?.[0] ?? body).data).toBeNull();
    }
    for (const path of ['/v1/events/stream', '/v1/events?q=hidden']) {
      expect(codeOf(await ask('get', `/${organizationId}${path}`, cookie).expect(403))).toBe('bodies_hidden');
    }
    const key = await api.createKey({ organizationId });
    const webhook = await api.createWebhook(key.secret);
    const delivery = await insertDelivery(api.db, { organizationId, webhookId: webhook.id });
    await insertAttempt(api.db, delivery.id, { number: 1, webhook_version: 1 });
    const { body } = await ask('get', `/${organizationId}/v1/webhooks/deliveries/${delivery.id}`, cookie).expect(200);
    const answer = { response_body: null, response_headers: null, remote_address: null };
    expect(body.attempts).toMatchObject([{ number: 1, status_code: 500, ...answer }]);
    const guess = { headers: { 'webhook-id': id, 'X-Service-Signature': '0'.repeat(64) }, body: '{"id":' };
    const check = `/${organizationId}/v1/webhooks/${webhook.id}/verify-signature`;
    expect(codeOf(await ask('post', check, cookie).send(guess).expect(403))).toBe('bodies_hidden');
    const staff = await enterWith();
    await ask('get', `/${organizationId}/v1/events/stream`, staff.cookie).expect(403);
  });

  it('are null in a delivery too, whose headers then do not show the size', async () => {
    const key = await api.createKey({ organizationId });
    const webhook = await api.createWebhook(key.secret);
    const { body: delivery } = await api.call('post', `/v1/webhooks/${webhook.id}/test`, key.secret).expect(202);
    const path = `/${organizationId}/v1/webhooks/deliveries/${delivery.id}`;
    const { cookie } = await enterWith({ show_bodies: false });
    const { body: hidden } = await ask('get', path, cookie).expect(200);
    const { body: shown } = await ask('get', path, (await enterWith()).cookie).expect(200);
    const { 'Content-Length': size, ...headers } = shown.request.headers;
    expect(Number(size)).toBeGreaterThan(0);
    expect(hidden.request).toEqual({ ...shown.request, headers, body: null });
  });

  it("leave one row of the audit log for each session of the owner's staff that reads them, and none if a customer does", async () => {
    const id = await emit();
    const reads = async () => {
      const { body } = await api.internal('get', `/internal/v1/audit?object_id=${id}`).expect(200);
      return body.data.map(({ action, actor }: Record<string, string>) => `${action} ${actor}`);
    };
    const key = await api.createKey({ organizationId });
    const { body } = await api.call('post', '/v1/console-sessions', key.secret).send({}).expect(201);
    const { headers } = await enter(body.url.split('#')[1]).expect(200);
    await ask('get', `/${organizationId}/v1/events`, cookiesOf(headers)[0]?.split(';')[0]).expect(200);
    expect(await reads()).toEqual([]);
    const staff = await enterWith();
    await ask('get', `/${organizationId}/v1/events`, staff.cookie).expect(200);
    expect(await reads()).toEqual([`event.read ${staff.id}`]);
    await ask('get', `/${organizationId}/v1/events`, staff.cookie).expect(200);
    expect(await reads()).toHaveLength(1);
    const other = await enterWith();
    await ask('get', `/${organizationId}/v1/events/${id}`, other.cookie).expect(200);
    expect(await reads()).toEqual([`event.read ${other.id}`, `event.read ${staff.id}`]);
  });
});

describe('/console', () => {
  it('serves pages and files with strict headers, and compressed as the client accepts', async () => {
    const get = async (path: string, accepted = 'identity') => {
      const { headers, text } = await request(api.publicUrl).get(path).set('Accept-Encoding', accepted).expect(200);
      expect(new Set(headers['content-security-policy']?.split('; '))).toEqual(policy);
      expect(headers).toMatchObject({
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        vary: 'Accept-Encoding',
      });
      return { text, caching: headers['cache-control'], encoding: headers['content-encoding'] };
    };
    const page = await get(`/console/${organizationId}/webhooks`);
    expect(page.caching).toBe('no-cache');
    for (const path of ['/console', '/console/enter']) expect(await get(path)).toEqual(page);
    const [file = ''] = /\/console\/assets\/[\w-]+\.js/.exec(page.text) ?? [];
    const { text } = await get(file);
    for (const [accepted, encoding] of [
      ['gzip, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['identity', undefined],
    ] as const) {
      const caching = 'public, max-age=31536000, immutable';
      expect(await get(file, accepted)).toEqual({ text, caching, encoding });
      expect(await get('/console', accepted)).toEqual({ ...page, encoding });
    }
  });

  it('serves its configuration without a session', async () => {
    const { body } = await request(api.publicUrl).get('/console/config.json').expect(200);
    expect(body).toEqual({ sign_in_url: 'https://owner.test/in', brand: null });
    await request(api.publicUrl).post('/console/config.json').expect(405);
    await request(api.publicUrl).get('/console/assets/none.js').expect(404);
  });

  it('is 404 as a whole unless CONSOLE_PUBLIC_URL is set', async () => {
    const off = await startTestApi({ environment: { CONSOLE_PUBLIC_URL: '' } });
    try {
      const { organization_id: id, secret } = await off.createKey();
      for (const path of ['/console', '/console/enter', '/console/config.json', `/console/api/${id}/session`]) {
        await request(off.publicUrl).get(path).set('X-Console', '1').expect(404);
      }
      await off.call('post', '/v1/console-sessions', secret).send({}).expect(404);
    } finally {
      await off.stop();
    }
  });

  it('logs no link and no cookie', async () => {
    const { token, cookie } = await enterWith();
    await ask('get', `/${organizationId}/session`, cookie).expect(200);
    const logged = api.logLines.join('');
    expect(logged).toContain('"session_id":"ses_');
    expect(logged).not.toContain(token);
    expect(logged).not.toContain(cookie.split('=')[1]);
  });
});
