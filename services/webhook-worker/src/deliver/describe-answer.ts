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

/**
 * Omits credentials, query and fragment, which may be secrets. The URL parser outputs ASCII without control characters.
 */
function describeRedirect(location: string | null, url: string): string {
  if (location === null) return 'The receiver redirects without a Location.';
  const target = URL.parse(location, url);
  if (target === null || !/^https?:$/.test(target.protocol)) {
    return 'The receiver redirects to a Location that is no HTTP URL.';
  }
  const text = target.origin + target.pathname;
  const bounded = text.length > maxLocationLength ? `${text.slice(0, maxLocationLength)}…` : text;
  return `The receiver redirects to ${bounded} (Location, without its query).`;
}
