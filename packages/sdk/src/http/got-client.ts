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
    // The client sends the key to the base URL only.
    followRedirect: false,
    allowGetBody: true,
  });
}

/**
 * Takes only the message of got's error, because the error itself contains the request and the key.
 *
 * @param failed describes the failure; got's message follows it
 */
export function withoutRequest(error: unknown, failed = 'The API gave no answer'): unknown {
  if (!(error instanceof RequestError) || error instanceof HTTPError) return error;
  return new ConnectionError(`${failed}: ${error.message}`, error.code);
}
