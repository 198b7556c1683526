import { fromPublicId } from '@enterprise-api/shared/runtime';
import { until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { askConsole, codeOf, enterSession, mintByKey, mintSession, useLink } from '../testing/console-client.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
let organizationId: string;
beforeAll(async () => {
  api = await startTestApi({ environment: { API_TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => api.stop());
beforeEach(async () => {
  organizationId = (await api.createOrganization()).id;
});

const sessionsPath = () => `/internal/v1/organizations/${organizationId}/console-sessions`;

describe('POST …/console-sessions', () => {
  it.each([
    '',
    '/',
    '/webhooks/whk_1?from=a,b&to=2026-11-28T10:00:00.000Z&label=x_y-z',
    '?range=24h',
    '/.well-known/..x/x..',
  ])('201 for a path below the own organization: %j', async (rest) => {
    const path = `/console/${organizationId}${rest}`;
    const session = await mintSession(api, organizationId, { path });
    expect(session.path).toBe(path);
    expect((await useLink(api, session.token).expect(200)).body.path).toBe(path);
  });

  it.each([
    '//evil.test',
    '/webhooks//',
    '/.',
    '/./webhooks',
    '/..',
    '/../org_01jd6kz5r8e2v9qxm3c7t4b0na',
    '/webhooks/..?a=b',
    '/%2e%2e/webhooks',
    '/webhooks#top',
    '/webhooks\\..',
    '/web hooks',
    '/webhooks;a',
    '/"onload="',
    '/wébhooks',
    '/webhooks\n',
    'x',
    `/${'x'.repeat(461)}`,
  ])('400 for a path below the own organization: %j', async (rest) => {
    const path = `/console/${organizationId}${rest}`;
    const { body } = await api.internal('post', sessionsPath()).send({ path }).expect(400);
    expect(body.error).toMatchObject({ code: 'validation_failed', param: 'path' });
  });

  it('201 for a path of 500 characters', async () => {
    const path = `/console/${organizationId}/${'x'.repeat(460)}`;
    expect(path).toHaveLength(500);
    await mintSession(api, organizationId, { path });
  });

  it.each(
    '\0 \t \n \r \u001b \u007f \u0085 \u2028 \u2029 \u061c \u200e \u200f \u202a \u202b \u202c \u202d \u202e \u2066 \u2067 \u2068 \u2069'.split(
      ' ',
    ),
  )('400 for a label with %j', async (character) => {
    const { body } = await api
      .internal('post', sessionsPath())
      .send({ label: `A${character}B` })
      .expect(400);
    expect(body.error).toMatchObject({ code: 'validation_failed', param: 'label' });
  });
});

describe('GET and DELETE …/console-sessions', () => {
  const byId = async (path = sessionsPath(), key?: string) => {
    const { body } = await (key === undefined ? api.internal('get', path) : api.call('get', path, key)).expect(200);
    return Object.fromEntries(body.data.map((session: { id: string }) => [session.id, session]));
  };
  const setTimes = (id: string, times: { expires_at?: Date; link_expires_at?: Date }) => {
    const query = api.db.updateTable('console_sessions').set(times);
    return query.where('id', '=', fromPublicId('ses', id) as string).execute();
  };

  it('tell when a session was entered, and when it ended by each of its ends', async () => {
    const [soon, past] = [new Date(Date.now() + 86_400_000), new Date(Date.now() - 1_000)];
    const key = await api.createKey({ organizationId, expires_at: soon.toISOString() });
    const [open, unused] = [await mintSession(api, organizationId), await mintSession(api, organizationId)];
    const [entered, ended, expired] = [await enter(), await enter(), await enter()];
    const ofKey = await enterSession(api, mintByKey(api, key));
    const before = Date.now();
    await api.internal('delete', `${sessionsPath()}/${ended.id}`).expect(204);
    await setTimes(expired.id, { expires_at: past });
    await setTimes(unused.id, { link_expires_at: past });
    await api.internal('delete', `/internal/v1/keys/${key.id}`).expect(204);
    const sessions = await byId();
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(sessions).toEqual({
      [open.id]: expect.objectContaining({ state: 'open', entered_at: null, ended_at: null }),
      [entered.id]: expect.objectContaining({ state: 'entered', entered_at: time, ended_at: null }),
      [ended.id]: expect.objectContaining({ state: 'ended', entered_at: time, ended_at: time }),
      [expired.id]: expect.objectContaining({ state: 'ended', entered_at: time, ended_at: past.toISOString() }),
      [unused.id]: expect.objectContaining({ state: 'ended', entered_at: null, ended_at: past.toISOString() }),
      [ofKey.id]: expect.objectContaining({ state: 'ended', entered_at: time, ended_at: time }),
    });
    for (const { id } of [ended, ofKey]) {
      expect(Date.parse(sessions[id].ended_at)).toBeGreaterThanOrEqual(before - 1_000);
      expect(Date.parse(sessions[id].ended_at)).toBeGreaterThanOrEqual(Date.parse(sessions[id].entered_at));
    }
    for (const { id } of [ended, expired, unused, ofKey]) {
      await api.internal('delete', `${sessionsPath()}/${id}`).expect(404);
    }
  });

  const enter = () => enterSession(api, mintSession(api, organizationId));

  it('end all sessions of an organization that is closed, and its links', async () => {
    const [entered, open] = [await enter(), await mintSession(api, organizationId)];
    const expired = await enter();
    const past = new Date(Date.now() - 60_000);
    await setTimes(expired.id, { expires_at: past });
    const close = `/internal/v1/organizations/${organizationId}/close`;
    await api.internal('post', close).send({ confirm: organizationId }).expect(202);
    const isEnded = async () => {
      const { status } = await askConsole(api, 'get', `/${organizationId}/session`, entered.cookie);
      return status === 401;
    };
    await until('the session has ended', isEnded);
    await useLink(api, open.token).expect(401);
    const sessions = await byId();
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect([entered, open, expired].map(({ id }) => sessions[id])).toMatchObject([
      { state: 'ended', entered_at: time, ended_at: time },
      { state: 'ended', entered_at: null, ended_at: time },
      { state: 'ended', ended_at: past.toISOString() },
    ]);
    await api.internal('delete', `${sessionsPath()}/${entered.id}`).expect(404);
  });

  it("are about a key's own sessions alone: another key's and the owner's service's are 404", async () => {
    const [mine, other] = [await api.createKey({ organizationId }), await api.createKey({ organizationId })];
    const own = await enterSession(api, mintByKey(api, mine));
    const others = await enterSession(api, mintByKey(api, other));
    const staff = await enter();
    const elsewhere = await enterSession(api, mintSession(api, (await api.createOrganization()).id));
    expect(Object.keys(await byId('/v1/console-sessions', mine.secret))).toEqual([own.id]);
    expect(Object.keys(await byId()).sort()).toEqual([own.id, others.id, staff.id].sort());
    for (const { id } of [others, staff, elsewhere]) {
      await api.call('delete', `/v1/console-sessions/${id}`, mine.secret).expect(404);
    }
    await api.internal('delete', `${sessionsPath()}/${elsewhere.id}`).expect(404);
    for (const { cookie, organization_id } of [own, others, staff, elsewhere]) {
      await askConsole(api, 'get', `/${organization_id}/session`, cookie).expect(200);
    }
    await api.call('delete', `/v1/console-sessions/${own.id}`, mine.secret).expect(204);
    expect((await byId('/v1/console-sessions', mine.secret))[own.id].state).toBe('ended');
    await askConsole(api, 'get', `/${organizationId}/session`, own.cookie).expect(401);
  });
});

describe('the addresses of a session', () => {
  const [ofKey, ofSession, elsewhere] = ['203.0.113.7', '198.51.100.7', '192.0.2.7'];
  const from = (address: string, cookie: string) =>
    askConsole(api, 'get', `/${organizationId}/session`, cookie).set('X-Forwarded-For', address);
  const outcomes = async (cookie: string) => {
    const answers = await Promise.all([ofKey, ofSession, elsewhere].map((address) => from(address, cookie)));
    return answers.map((answer) => (answer.status === 200 ? 200 : codeOf(answer)));
  };
  /** From where each link of a key works, and then the session that the key's address entered. */
  async function mintFrom(key: { secret: string }, body: object) {
    const path = '/v1/console-sessions';
    const { body: session } = await api.call('post', path, key.secret).set('X-Forwarded-For', ofKey).send(body);
    const enterFrom = (address: string) => useLink(api, session.url.split('#')[1]).set('X-Forwarded-For', address);
    return { session, enterFrom };
  }
  const cookieOf = ({ headers }: { headers: Record<string, string> }) =>
    headers['set-cookie']?.[0]?.split(';')[0] as string;

  it("are its own where the request named some, not its key's", async () => {
    const key = await api.createKey({ organizationId, ip_allowlist: [ofKey] });
    const { session, enterFrom } = await mintFrom(key, { ip_allowlist: [ofSession] });
    expect(session.ip_allowlist).toEqual([ofSession]);
    for (const address of [ofKey, elsewhere]) {
      expect(codeOf(await enterFrom(address).expect(403))).toBe('ip_not_allowed');
    }
    const cookie = cookieOf(await enterFrom(ofSession).expect(200));
    expect(await outcomes(cookie)).toEqual(['ip_not_allowed', 200, 'ip_not_allowed']);
  });

  it("are its key's otherwise, as they are now", async () => {
    const key = await api.createKey({ organizationId, ip_allowlist: [ofKey] });
    const { session, enterFrom } = await mintFrom(key, {});
    expect(session.ip_allowlist).toBeNull();
    expect(codeOf(await enterFrom(ofSession).expect(403))).toBe('ip_not_allowed');
    const cookie = cookieOf(await enterFrom(ofKey).expect(200));
    expect(await outcomes(cookie)).toEqual([200, 'ip_not_allowed', 'ip_not_allowed']);
    const change = { ip_allowlist: [ofSession] };
    await api.internal('patch', `/internal/v1/keys/${key.id}`).send(change).expect(200);
    await until('the change applies', async () => (await from(ofSession, cookie)).status === 200);
    expect(await outcomes(cookie)).toEqual(['ip_not_allowed', 200, 'ip_not_allowed']);
  });

  it('are all if its key only reports other addresses, as for the key itself', async () => {
    const key = await api.createKey({ organizationId, ip_allowlist: [ofKey], ip_allowlist_mode: 'report' });
    const { enterFrom } = await mintFrom(key, {});
    const cookie = cookieOf(await enterFrom(elsewhere).expect(200));
    expect(await outcomes(cookie)).toEqual([200, 200, 200]);
    await api.call('get', '/v1/me', key.secret).set('X-Forwarded-For', elsewhere).expect(200);
    const own = await mintFrom(key, { ip_allowlist: [ofSession] });
    expect(codeOf(await own.enterFrom(elsewhere).expect(403))).toBe('ip_not_allowed');
  });
});
