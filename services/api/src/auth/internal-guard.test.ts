import { describe, expect, it } from '@jest/globals';
import { isProblem } from '../core/problem.ts';
import { createInternalGuard } from './internal-guard.ts';

const short = 's'.repeat(32);
const long = `${short}-and-more`;

/** Whether a request with this header may come in. */
async function admits(secrets: readonly string[], authorization: string): Promise<boolean> {
  const request = { headers: { authorization }, rawHeaders: ['Authorization', authorization] };
  return !isProblem(await createInternalGuard(secrets)(request as never, {} as never, {} as never));
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
});
