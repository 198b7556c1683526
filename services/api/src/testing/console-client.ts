import request, { type Test } from 'supertest';
import type { TestApi } from './test-api.ts';

export type ConsoleMethod = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options';

/** @param path continues `/console/api` */
export function askConsole(api: TestApi, method: ConsoleMethod, path: string, cookie?: string): Test {
  const test = request(api.publicUrl)[method](`/console/api${path}`).set('X-Console', '1');
  return cookie === undefined ? test : test.set('Cookie', cookie);
}

/** Mints a session as the owner's service does. */
export function mintSession(api: TestApi, organizationId: string, body: object = {}) {
  const path = `/internal/v1/organizations/${organizationId}/console-sessions`;
  return minted(api.internal('post', path).set('X-Actor', 'ada').send(body));
}

/** Mints a session with a customer's key. */
export function mintByKey(api: TestApi, key: { secret: string }, body: object = {}) {
  return minted(api.call('post', '/v1/console-sessions', key.secret).send(body));
}

/** @returns the new session, with the secret of its link */
async function minted(test: Test) {
  const { body: session } = await test.expect(201);
  return { ...session, token: session.url.split('#')[1] as string };
}

export function useLink(api: TestApi, token: string, cookie?: string): Test {
  return askConsole(api, 'post', '/enter', cookie).send({ token });
}

/** @returns the session with the cookie that its link gives */
export async function enterSession<Session extends { token: string }>(
  api: TestApi,
  session: Session | Promise<Session>,
) {
  const entered = await session;
  const { headers } = await useLink(api, entered.token).expect(200);
  return { ...entered, cookie: cookiesOf(headers).at(-1)?.split(';')[0] as string };
}

export const cookiesOf = (headers: Record<string, unknown>) => (headers['set-cookie'] ?? []) as string[];
export const codeOf = ({ body }: { body: { error: { code: string } } }) => body.error.code;
