import type { SendResponse } from '../sender/exchange.ts';
import type { Verdict } from './classify.ts';

const maxLocationLength = 200;

/**
 * Names the target of a redirect, or says that the body is compressed. The status and the body do not show this.
 *
 * @param url the webhook's URL, the base of a relative `Location`
 */
export function describeAnswer(answer: SendResponse, verdict: Verdict, url: string): string | null {
  const sentences: string[] = [];
  if (verdict.error === 'redirect') sentences.push(`${describeRedirect(answer.location, url)} It is not followed.`);
  if (answer.isCompressed) sentences.push('The body of the answer is compressed and is not shown.');
  return sentences.length === 0 ? null : sentences.join(' ');
}

const shownHeaders = [
  'content-type',
  'content-length',
  'date',
  'server',
  'retry-after',
  'location',
  'www-authenticate',
  'x-request-id',
];
const maxShownBytes = 2 * 1_024;

/** Selects headers that help to explain a failure. Skips headers that do not fit, and replaces control characters. */
export function showHeaders({ headers }: SendResponse, url: string): Record<string, string> {
  const shown: Record<string, string> = {};
  let left = maxShownBytes;
  for (const name of shownHeaders) {
    const received = [headers[name] ?? []].flat();
    const value = name === 'location' ? targetOf(received[0] ?? null, url) : received.join(', ');
    const text = (value ?? '').replaceAll(/\p{Cc}/gu, '\ufffd');
    const bytes = Buffer.byteLength(name + text);
    if (received.length === 0 || value === null || bytes > left) continue;
    left -= bytes;
    shown[name] = text;
  }
  return shown;
}

/**
 * Omits credentials, query and fragment, which may be secrets. The URL parser outputs ASCII without control characters.
 *
 * @returns null if the location is not an HTTP URL
 */
function targetOf(location: string | null, url: string): string | null {
  const target = location === null ? null : URL.parse(location, url);
  return target !== null && /^https?:$/.test(target.protocol) ? target.origin + target.pathname : null;
}

function describeRedirect(location: string | null, url: string): string {
  if (location === null) return 'The receiver redirects without a Location.';
  const text = targetOf(location, url);
  if (text === null) return 'The receiver redirects to a Location that is no HTTP URL.';
  const bounded = text.length > maxLocationLength ? `${text.slice(0, maxLocationLength)}…` : text;
  return `The receiver redirects to ${bounded} (Location, without its query).`;
}
