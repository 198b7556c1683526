import type { AddressPolicy } from '@enterprise-api/shared/security';
import { ConnectionPool } from './connection-pool.ts';
import { type Connection, createConnector } from './connector.ts';
import { createAddressBook } from './dns-cache.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { Sending, type SendingContext } from './sending.ts';
import { createTargets } from './target.ts';
import type { Sender } from './types.ts';

export type SenderOptions = {
  /** Which addresses may be reached. */
  policy: AddressPolicy;
  /** One deadline over DNS, connect, TLS, send and answer; waiting for a turn to connect, at most as long, comes on top. */
  timeoutMs: number;
  /** PEM certificates of authorities trusted in addition to the usual ones (`WEBHOOK_CA_FILE`). */
  ca?: string | undefined;
  resolver?: Resolver;
  /** Connections kept for their next request, over all receivers. */
  maxIdleConnections?: number;
  /** The monotonic clock, milliseconds. */
  monotonic?: () => number;
};

/**
 * The way out for deliveries, and the only one. Addresses are checked twice, redirects are not followed, no proxy, no
 * cookies, nothing is inflated, and one deadline ends whatever a receiver thinks of (security.md, "Outbound").
 */
export function createSender(options: SenderOptions): Sender {
  const { policy, timeoutMs, ca, maxIdleConnections = 2_000, monotonic = () => performance.now() } = options;
  const resolver = options.resolver ?? createResolver();
  const pool = new ConnectionPool<Connection>(maxIdleConnections, monotonic);
  const context: SendingContext = {
    targets: createTargets(policy),
    book: createAddressBook({ resolver, policy, monotonic }),
    pool,
    connect: createConnector({ policy, ca, monotonic, onClose: (connection) => pool.remove(connection) }),
    timeoutMs,
    monotonic,
  };
  let running = 0;
  let closing: PromiseWithResolvers<void> | null = null;

  function settled(): void {
    running -= 1;
    if (running === 0) closing?.resolve();
  }

  return {
    send(request, hooks) {
      if (closing !== null) return Promise.resolve({ kind: 'not_started' });
      running += 1;
      return new Promise((resolve) => {
        const sending = new Sending(context, request, hooks, (result) => {
          settled();
          resolve(result);
        });
        sending.start();
      });
    },
    async close() {
      closing ??= Promise.withResolvers();
      if (running > 0) await closing.promise;
      pool.destroyAll();
      resolver.close();
    },
  };
}
