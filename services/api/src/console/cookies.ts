import type { IncomingMessage } from 'node:http';
import { fromPublicId } from '@enterprise-api/shared/runtime';

/** Browsers keep about 50 cookies of a site. Entering a further organization deletes the oldest cookie. */
const maxCookies = 20;

/** Safari refuses `Secure` cookies of http on loopback, and `__Host-` requires `Secure`. */
function prefixOf(publicUrl: string): string {
  return publicUrl.startsWith('https:') ? '__Host-console-' : 'console-';
}

/** @param organizationId public id; each organization has its own cookie */
export function readCookie(request: IncomingMessage, organizationId: string, publicUrl: string): string | null {
  const name = `${prefixOf(publicUrl)}${organizationId}`;
  const values = cookiesOf(request).filter(([found]) => found === name);
  return values.length === 1 ? (values[0]?.[1] ?? null) : null;
}

export function sessionCookie(organizationId: string, publicUrl: string, value: string, maxAgeSeconds: number): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  const attributes = `HttpOnly${secure}; Path=/; SameSite=Strict; Max-Age=${maxAgeSeconds}`;
  return `${prefixOf(publicUrl)}${organizationId}=${value}; ${attributes}`;
}

/** The organizations whose cookies must be deleted to make room for one more. Browsers send the oldest cookie first. */
export function organizationsToForget(request: IncomingMessage, organizationId: string, publicUrl: string): string[] {
  const prefix = prefixOf(publicUrl);
  const others = cookiesOf(request)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name]) => name.slice(prefix.length))
    .filter((other) => other !== organizationId && fromPublicId('org', other) !== null);
  return others.slice(0, Math.max(0, others.length - maxCookies + 1));
}

function cookiesOf({ headers }: IncomingMessage): [name: string, value: string][] {
  return (headers.cookie ?? '').split(';').map((pair) => {
    const mark = pair.indexOf('=');
    return [pair.slice(0, mark).trim(), pair.slice(mark + 1).trim()];
  });
}
