import type { IncomingMessage } from 'node:http';

/**
 * The bearer token of a request, or null. A request with two Authorization headers has none: Node keeps the first one
 * and silently drops the second, which a proxy in front of the API may have checked instead.
 */
export function bearerToken(request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): string | null {
  const header = request.headers.authorization;
  if (header === undefined || countAuthorizations(request.rawHeaders) !== 1) return null;
  return /^bearer +([!-~]+)$/i.exec(header)?.[1] ?? null;
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
