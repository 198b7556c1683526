import { describe, expect, it } from '@jest/globals';
import { isProblem } from '../core/problem.ts';
import { createInternalGuard, createInternalSecrets } from './internal-guard.ts';

const short = 's'.repeat(32);
const long = `${short}-and-more`;

function answerTo(accepted: { service: string[]; ingress: string[] }, authorization: string) {
  const request = { headers: { authorization }, rawHeaders: ['Authorization', authorization] };
  const guard = createInternalGuard(createInternalSecrets(accepted));
  return guard(request as never, {} as never, {} as never);
}

/** Whether a request with this header may come in. */
async function admits(secrets: string[], authorization: string): Promise<boolean> {
  return !isProblem(await answerTo({ service: secrets, ingress: [] }, authorization));
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

  it('refuses the secret of an ingress, and knows who holds which', async () => {
    const accepted = { service: [short], ingress: [long] };
    expect(await answerTo(accepted, `Bearer ${long}`)).toMatchObject({ problem: 'forbidden_scope' });
    expect(await answerTo(accepted, `Bearer ${short}`)).toEqual({ internal: true });
    const { holderOf } = createInternalSecrets(accepted);
    expect([holderOf(`Bearer ${long}`), holderOf(`Bearer ${short}`)]).toEqual(['ingress', 'service']);
    expect(isProblem(holderOf(undefined))).toBe(true);
  });
});
