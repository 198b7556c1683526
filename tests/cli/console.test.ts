import type { ConsoleSession, CreatedConsoleSession } from '@enterprise-api/shared/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CliStage, openCliStage } from './stage.ts';

describe('enterprise-api console', () => {
  let stage: CliStage;
  beforeAll(async () => {
    stage = await openCliStage({ CONSOLE_PUBLIC_URL: 'https://console.example.com' });
  });
  afterAll(async () => await stage[Symbol.asyncDispose]());

  const enter = async (link: string) => {
    const [page, token] = link.split('#');
    expect(page).toBe('https://console.example.com/console/enter');
    const headers = { 'X-Console': '1', 'Content-Type': 'application/json' };
    const body = JSON.stringify({ token });
    return (await fetch(`${stage.api.url}/console/api/enter`, { method: 'POST', headers, body })).status;
  };
  const newest = async () => {
    const { body } = await stage.customer.call('GET', '/v1/console-sessions');
    return body.data[0] as ConsoleSession;
  };

  it('prints a link that enters once, with the rights and for the person that it was asked for', async () => {
    const { code, stdout, stderr } = await stage.cli.run(['console', '--read-only', '--label', 'Ada']);
    expect([code, stderr]).toEqual([0, '']);
    const [link = ''] = /https:\S+/.exec(stdout) ?? [];
    expect([await enter(link), await enter(link)]).toEqual([200, 401]);
    const scopes = ['me:read', 'webhooks:read', 'usage:read'];
    expect(await newest()).toMatchObject({ state: 'entered', label: 'Ada', scopes });
  });

  it.each([
    [['me:read', 'webhooks:read', 'webhooks:write'], ['--read-only'], ['me:read', 'webhooks:read']],
    [['me:read', 'webhooks:read', 'webhooks:write'], [], ['me:read', 'webhooks:read', 'webhooks:write']],
    [['*'], [], ['*']],
  ])('with a key of %j and %j mints a session of %j', async (scopes, args, expected) => {
    const { secret } = await stage.customer.createKey(stage.customer.organizationId, { scopes });
    const env = { ENTERPRISE_API_KEY: secret };
    const session = await stage.cli.json<CreatedConsoleSession>(['console', ...args], { env });
    expect(session).toMatchObject({ scopes: expected, show_bodies: true });
    expect(await enter(session.url)).toBe(200);
  });
});
