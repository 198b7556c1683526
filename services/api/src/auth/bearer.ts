import type { IncomingMessage } from 'node:http';

/** The `Authorization` header of a request: undefined without one, null when there are several. */
export type Authorization = string | null | undefined;

/**
 * Reads the header. Two headers are refused: Node keeps the first one and silently drops the second, which a proxy in
 * front of the API may have checked instead.
 */
export function authorizationOf(request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): Authorization {
  const { authorization } = request.headers;
  return authorization === undefined || countAuthorizations(request.rawHeaders) === 1 ? authorization : null;
}

/** The bearer token in the header, or null. */
export function bearerToken(authorization: Authorization): string | null {
  return /^bearer +([!-~]+)$/i.exec(authorization ?? '')?.[1] ?? null;
}

const name = 'authorization';

function countAuthorizations(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] as string;
    if (header.length === name.length && header.toLowerCase() === name) count++;
  }
  return count;
}
