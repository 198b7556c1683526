import { describe, expect, it } from '@jest/globals';
import { isProblem } from '../http/problem.ts';
import { createInternalGuard, createInternalSecrets } from './internal-guard.ts';

const short = 's'.repeat(32);
const long = `${short}-and-more`;

type Accepted = Parameters<typeof createInternalSecrets>[0];
type Operation = Parameters<ReturnType<typeof createInternalGuard>>[2];

/** An operation whose route is open to these callers. */
const routeFor = (caller: 'authenticated' | 'producer') => ({ kind: 'route', route: { caller } }) as Operation;

function answerTo(accepted: Accepted, authorization: string, operation = routeFor('authenticated')) {
  const request = { headersDistinct: { authorization: [authorization] } };
  const guard = createInternalGuard(createInternalSecrets(accepted));
  return guard(request as never, {} as never, operation);
}

/** Whether a request with this header may come in. */
async function admits(secrets: string[], authorization: string): Promise<boolean> {
  return !isProblem(await answerTo({ service: secrets, ingress: [], producer: [] }, authorization));
}

describe('the internal listener', () => {
  it.each([short, long])('admits a caller with one of its secrets: %s', async (secret) => {
    expect(await admits([short, long], `Bearer ${secret}`)).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['part of one', long.slice(0, -1)],
    ['one and more', `${long}x`],
    ['one and much more', `${long}${'x'.repeat(500)}`],
    ['another of the same length', 'x'.repeat(long.length)],
  ])('refuses %s', async (_name, token) => {
    expect(await admits([short, long], `Bearer ${token}`)).toBe(false);
  });

  it('refuses a longer secret that begins with an accepted one', async () => {
    expect(await admits([short], `Bearer ${long}`)).toBe(false);
    expect(await admits([long], `Bearer ${short}`)).toBe(false);
  });

  const accepted = { service: [short], ingress: [long], producer: ['p'.repeat(32)] };
  const [service, ingress, producer] = [short, long, 'p'.repeat(32)].map((secret) => `Bearer ${secret}`) as [
    string,
    string,
    string,
  ];
  const access = {
    role: expect.any(String),
    secretId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/),
  };
  const refusal = expect.objectContaining({ problem: 'forbidden_scope' });

  it.each([
    ['a service', service, access, access],
    ['an ingress', ingress, refusal, refusal],
    ['a producer', producer, refusal, access],
  ])('admits %s to what its secret opens', async (_holder, authorization, everywhere, toEvents) => {
    expect(await answerTo(accepted, authorization)).toEqual(everywhere);
    expect(await answerTo(accepted, authorization, { kind: 'unknown' })).toEqual(everywhere);
    expect(await answerTo(accepted, authorization, routeFor('producer'))).toEqual(toEvents);
  });

  it('knows who holds which secret, and names each in the same way after a restart', () => {
    const [before, after] = [createInternalSecrets(accepted), createInternalSecrets({ ...accepted, ingress: [] })];
    const found = [service, ingress, producer].map((authorization) => before.holderOf([authorization]));
    expect(found).toMatchObject([{ role: 'service' }, { role: 'ingress' }, { role: 'producer' }]);
    expect(new Set(found.map((each) => !isProblem(each) && each.secretId)).size).toBe(3);
    expect(after.holderOf([producer])).toEqual(found[2]);
    expect(isProblem(before.holderOf(undefined))).toBe(true);
  });
});
