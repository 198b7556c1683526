import { type HttpAnswer, type HttpRequest, sendRequest } from '@enterprise-api/testkit';
import type { TestApi } from './test-api.ts';

/**
 * Asks about a request to the public listener, as an ingress does, instead of sending it.
 *
 * @param own headers in addition to those of the ingress
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
