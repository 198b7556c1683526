import { type HttpAnswer, type HttpRequest, sendRequest } from '@enterprise-api/testkit';
import type { TestApi } from './test-api.ts';

/**
 * Asks about a request to the public listener, as an ingress does, instead of sending it.
 *
 * @param own headers in addition to the headers of the ingress
 */
export function askAbout(
  api: Pick<TestApi, 'internalUrl' | 'internalSecret'>,
  { method, url, headers }: HttpRequest,
  own: Record<string, string> = {},
): Promise<HttpAnswer> {
  const text = String(url);
  return sendRequest({
    // An answer to HEAD has no body, whatever it is about.
    method: method === 'HEAD' ? 'HEAD' : 'GET',
    url: `${api.internalUrl}/internal/v1/authorize`,
    headers: {
      ...headers,
      'X-Internal-Authorization': `Bearer ${api.internalSecret}`,
      'X-Forwarded-Method': method,
      'X-Forwarded-Uri': text.slice(text.indexOf('/', 'http://'.length)),
      ...own,
    },
  });
}

export const ingressSecret = 'the-secret-of-the-ingress-0123456789';

/** A request that an ingress asks about. */
export interface Question {
  method?: string;
  /** Path and query. */
  target: string;
  key?: string;
  headers?: Record<string, string>;
}

/** Asks as an ingress, for clients of which each has an address of its own: failures of one do not count for another. */
export function createIngress(api: Pick<TestApi, 'internalUrl' | 'internalSecret'>) {
  let nextAddress = 1;
  const from = () => `198.51.100.${nextAddress++}`;
  const ask = ({ method = 'GET', target, key, headers }: Question): Promise<HttpAnswer> => {
    const authorization = key === undefined ? {} : { Authorization: `Bearer ${key}` };
    const sent = { 'X-Forwarded-For': from(), ...authorization, ...headers };
    return askAbout(api, { method, url: `http://x${target}`, headers: sent });
  };
  return { from, ask };
}
