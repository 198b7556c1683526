import type { AddressPolicy } from '@enterprise-api/shared/security';
import { createConnectRateLimiter } from './connect-rate-limiter.ts';
import type { Connection } from './connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import { createConnector } from './connector.ts';
import { createDnsCache } from './dns-cache.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { createTargets } from './target.ts';
import { Transmission, type TransmissionParts } from './transmission.ts';
import type { Sender } from './types.ts';

export type SenderOptions = {
  /** Which addresses may be reached. */
  policy: AddressPolicy;
  /** One deadline over DNS, connect, TLS, send and answer. The wait for a connect permit does not count. */
  timeoutMs: number;
  /** PEM certificates of authorities trusted in addition to the usual ones (`WEBHOOK_CA_FILE`). */
  ca?: string | undefined;
  resolver?: Resolver;
  /** Connections kept for their next request, over all receivers. */
  maxIdleConnections?: number;
  /** Told of each request that is sent once more because its kept connection ended before an answer. */
  onResent?: () => void;
  /** The monotonic clock, milliseconds. */
  monotonic?: () => number;
};

/**
 * Sends deliveries; nothing else in the worker connects to a receiver. Addresses are checked twice, redirects are not
 * followed, and there are no proxies, cookies or decompression. One deadline ends every request, whatever a receiver does.
 */
export function createSender(options: SenderOptions): Sender {
  const { policy, timeoutMs, ca, maxIdleConnections = 2_000, monotonic = () => performance.now() } = options;
  const resolver = options.resolver ?? createResolver();
  const pool = new ConnectionPool<Connection>(maxIdleConnections, monotonic);
  const parts: TransmissionParts = {
    targetOf: createTargets(policy),
    dns: createDnsCache({ resolver, policy, monotonic }),
    pool,
    permitToConnect: createConnectRateLimiter(),
    connect: createConnector({ policy, ca, monotonic, onClose: (connection) => pool.remove(connection) }),
    onResent: options.onResent ?? (() => undefined),
    timeoutMs,
    monotonic,
  };
  let running = 0;
  let closing: PromiseWithResolvers<void> | null = null;
  const ended = () => {
    running -= 1;
    if (running === 0) closing?.resolve();
  };
  return {
    async send(request, hooks) {
      if (closing !== null) return { kind: 'not_started' };
      running += 1;
      const result = await new Transmission(parts, request, hooks).run();
      ended();
      return result;
    },
    async close() {
      closing ??= Promise.withResolvers();
      if (running > 0) await closing.promise;
      pool.destroyAll();
      resolver.close();
    },
  };
}
