import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { type Got, HTTPError, RequestError } from 'got';
import { ConnectionError } from '../errors.ts';
import type { Settings } from '../options.ts';
import { version } from '../version.ts';

export function createGotClient({ apiKey, userAgent }: Settings): Got {
  const own = `enterprise-api-sdk/${version} node/${process.versions.node}`;
  return got.extend({
    headers: {
      'user-agent': userAgent === null ? own : `${userAgent} ${own}`,
      accept: 'application/json',
      authorization: `Bearer ${apiKey}`,
    },
    agent: { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) },
    // The key goes to the base URL and nowhere else.
    followRedirect: false,
    allowGetBody: true,
  });
}

/**
 * got's own error holds the request, and with it the key: only its words are passed on.
 *
 * @param failed what went wrong, before got's words
 */
export function withoutRequest(error: unknown, failed = 'The API gave no answer'): unknown {
  if (!(error instanceof RequestError) || error instanceof HTTPError) return error;
  return new ConnectionError(`${failed}: ${error.message}`, error.code);
}
