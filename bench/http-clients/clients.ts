import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { createAddressPolicy } from '@enterprise-api/shared/security';
import got from 'got';
// oxlint-disable-next-line no-restricted-imports -- compared with the sender of the worker
import { Agent, request as undiciRequest } from 'undici';
// oxlint-disable-next-line no-restricted-imports -- the sender is compared with the other clients
import { createSender } from '../../services/webhook-worker/src/sender/send.ts';

/** One POST over a kept-alive connection; the answer's status, when its body has been read. */
export type Post = (body: Buffer) => Promise<number>;

export interface Target {
  url: string;
  /** The receiver's certificate authority, PEM. */
  ca: string;
  concurrency: number;
}

const headers = { 'Content-Type': 'application/json', 'User-Agent': 'benchmark' };
const timeoutMs = 15_000;

/**
 * The clients that are compared. Each gets one deadline over the whole exchange, which none of the three libraries has.
 */
export const clients = {
  /** With the settings that we use for all requests that are not deliveries. */
  got: ({ url, ca, concurrency }: Target): Post => {
    const agent = { https: new HttpsAgent({ keepAlive: true, maxSockets: concurrency, ca }) };
    const settings = { retry: { limit: 0 }, followRedirect: false, throwHttpErrors: false, decompress: false } as const;
    const http = got.extend({ ...settings, http2: false, agent, headers, https: { certificateAuthority: ca } });
    return withDeadline(async (body, signal) => {
      const stream = http.stream.post(url, { body, signal });
      let status = 0;
      stream.once('response', (response: { statusCode: number }) => {
        status = response.statusCode;
      });
      await buffer(stream);
      return status;
    });
  },

  'node:https': ({ url, ca, concurrency }: Target): Post => {
    const agent = new HttpsAgent({ keepAlive: true, maxSockets: concurrency, ca });
    return withDeadline(
      (body, signal) =>
        new Promise((resolve, reject) => {
          const options = { method: 'POST', agent, signal, headers: { ...headers, 'Content-Length': body.length } };
          const request = httpsRequest(url, options, (response) => {
            buffer(response).then(() => resolve(response.statusCode ?? 0), reject);
          });
          request.once('error', reject).end(body);
        }),
    );
  },

  'undici.request': ({ url, ca, concurrency }: Target): Post => {
    const dispatcher = new Agent({ connections: concurrency, connect: { ca } });
    return withDeadline(async (body, signal) => {
      const response = await undiciRequest(url, { method: 'POST', headers, body, dispatcher, signal });
      await response.body.arrayBuffer();
      return response.statusCode;
    });
  },

  /** The worker's sender: undici with the checks, limits and timings that a delivery needs. */
  'our sender': ({ url, ca }: Target): Post => {
    const policy = createAddressPolicy({ allowedPrivateCidrs: ['127.0.0.0/8', '::1/128'] });
    const sender = createSender({ policy, ca, timeoutMs });
    const hooks = { mayStart: () => true };
    return async (body) => {
      const result = await sender.send({ url, headers, body }, hooks);
      return result.kind === 'response' ? result.statusCode : 0;
    };
  },
} satisfies Record<string, (target: Target) => Post>;

export type ClientName = keyof typeof clients;

function withDeadline(post: (body: Buffer, signal: AbortSignal) => Promise<number>): Post {
  return async (body) => {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), timeoutMs);
    try {
      return await post(body, controller.signal);
    } finally {
      clearTimeout(timer);
    }
  };
}
