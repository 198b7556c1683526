import { brokenTargets, ingressNames, inParallel, passedTargets, refusedTargets } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exchange } from './raw-exchange.ts';
import { type IngressStage, openIngressStage } from './stage.ts';

/** Targets that two servers may read differently, with a key that may do everything: the API judges what came. */
describe.each(ingressNames)('request targets through %s', (name) => {
  let stage: IngressStage;
  let authorization: readonly [string, string];
  beforeAll(async () => {
    stage = await openIngressStage(name);
    const { id } = await stage.client.createOrganization();
    authorization = ['Authorization', `Bearer ${(await stage.client.createKey(id)).secret}`];
  });
  afterAll(async () => stage?.[Symbol.asyncDispose]());
  beforeEach(() => stage.upstream.forget());

  it('passes on a target that means one thing only, byte for byte', async () => {
    for (const { name: title, target } of passedTargets) {
      stage.upstream.forget();
      const { status } = await exchange(stage.front, { target, headers: [authorization] });
      const sent = stage.upstream.bytes().split('\r\n')[0];
      expect([title, status, sent]).toEqual([title, 200, `GET ${target} HTTP/1.1`]);
    }
  });

  it('refuses a target that a service might read as another one, with 400', async () => {
    const answers: Record<string, number> = {};
    await inParallel(refusedTargets, 6, async ({ name: title, target }) => {
      answers[title] = (await exchange(stage.front, { target, headers: [authorization] })).status;
    });
    expect(Object.entries(answers).filter(([, status]) => status !== 400)).toEqual([]);
    expect(stage.upstream.bytes()).toBe('');
  });

  it('hands nothing to a service for what is no request target', async () => {
    const answers: Record<string, number> = {};
    await inParallel(brokenTargets, 6, async ({ name: title, target }) => {
      answers[title] = (await exchange(stage.front, { target, headers: [authorization] })).status;
    });
    // HTTP/0.9 has neither a version nor a status.
    expect(Object.entries(answers).filter(([, status]) => status !== 0 && (status < 400 || status > 499))).toEqual([]);
    expect(stage.upstream.bytes()).toBe('');
  });

  it('judges the path of a service by the scope of its area, and never by the scope of another path', async () => {
    const { id } = await stage.client.createOrganization();
    const key = await stage.client.createKey(id, { scopes: ['usage:read'] });
    const headers = [['Authorization', `Bearer ${key.secret}`]] as const;
    const status = async (target: string) => (await exchange(stage.front, { target, headers })).status;
    expect(await status('/reports/monthly')).toBe(200);
    stage.upstream.forget();
    expect(await status('/v1/consultations/c1')).toBe(403);
    expect(await status('/reports/../v1/consultations/c1')).toBe(400);
    expect(await status('/reports/..;/v1/consultations/c1')).toBe(400);
    expect(await status('/reports/%2e%2e/v1/consultations/c1')).toBe(400);
    expect(await status('/reports/..%2fv1/consultations/c1')).toBe(400);
    expect(await status('/V1/consultations/c1')).not.toBe(200);
    expect(stage.upstream.bytes()).toBe('');
  });
});
