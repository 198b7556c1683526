import { askRedis } from '@enterprise-api/testkit';

/**
 * Sends Redis a command, which an open connection does not prove it would answer: a server that refuses the password
 * accepts connections all the same.
 *
 * @throws with a sentence for the user when Redis does not answer
 */
export async function requireRedis(url: string): Promise<void> {
  const problem = await askRedis(url);
  if (problem === undefined) return;
  const { host, password } = new URL(url);
  if (/^(NOAUTH|WRONGPASS)/.test(problem)) {
    const what = password === '' ? 'demands a password, and REDIS_URL has none' : 'refuses the password in REDIS_URL';
    throw new Error(`Redis at ${host} ${what} (${problem.split(' ')[0]}).`);
  }
  throw new Error(`Redis at ${host} (REDIS_URL) does not answer: ${problem}.`);
}
