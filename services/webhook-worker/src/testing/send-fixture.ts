import { Resolver } from 'node:dns/promises';
import { createAddressPolicy } from '@enterprise-api/shared/security';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type DnsServer,
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from '@enterprise-api/testkit';
import type { DeliveryRequest, SendFailure, SendResponse, SendResult } from '../sender/exchange.ts';
import { createSender, type Sender, type SenderOptions, type SendHooks } from '../sender/send.ts';

/** What a test of the sender starts; `close` stops all of it. */
export type Fixture = {
  ca: CertificateAuthority;
  /** With a certificate for `localhost`, 127.0.0.1 and ::1 unless given one. */
  receiver(options?: Partial<ReceiverOptions>): Promise<Receiver>;
  /** Allowed to reach loopback, trusting the fixture's authority. */
  sender(options?: Partial<SenderOptions>): Sender;
  /** Closed at the end, last first. */
  onClose(close: () => unknown): void;
  close(): Promise<void>;
};

export async function createFixture(): Promise<Fixture> {
  const ca = await createCertificateAuthority();
  const certificate = await ca.issue({ hosts: ['localhost', '127.0.0.1', '::1'] });
  const closers: (() => unknown)[] = [];
  return {
    ca,
    async receiver(options) {
      const receiver = await startReceiver({ certificate, ...options });
      closers.push(() => receiver.close());
      return receiver;
    },
    sender(options) {
      const policy = createAddressPolicy({ allowedPrivateCidrs: ['127.0.0.0/8', '::1'] });
      const sender = createSender({ policy, ca: ca.certificate, timeoutMs: 10_000, ...options });
      closers.push(() => sender.close());
      return sender;
    },
    onClose: (close) => closers.push(close),
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

/** Asks a server of the test's own. */
export function resolverOf({ address }: DnsServer, timeoutMs = 2_000): Resolver {
  const resolver = new Resolver({ timeout: timeoutMs, maxTimeout: timeoutMs, tries: 2 });
  resolver.setServers([address]);
  return resolver;
}

export const always: SendHooks = { mayStart: () => true };

export function requestTo(url: string, body = '{"id":"evt_1"}'): DeliveryRequest {
  return { url, headers: { 'Content-Type': 'application/json' }, body: Buffer.from(body) };
}

export function isResponse(result: SendResult): SendResponse {
  if (result.kind !== 'response') throw new Error(`No answer: ${JSON.stringify(result)}`);
  return result;
}

export function isFailure(result: SendResult): SendFailure {
  if (result.kind !== 'error') throw new Error(`No failure: ${JSON.stringify(result)}`);
  return result;
}
