import { startPeer } from '../processes/peer.ts';
import type { KeyPairPem } from './certificates.ts';

export type ReceiverProcessCalls = {
  start: (certificate: KeyPairPem) => Promise<{ port: number }>;
  hang: (hangs: boolean) => void;
};

/** A receiver in a process of its own, which answers 200, or not at all. */
export interface ReceiverProcess extends AsyncDisposable {
  url(path?: string): string;
  /** True: requests get no answer from now on. False: new and waiting requests are answered. */
  hang(hangs: boolean): Promise<void>;
}

/**
 * Starts a receiver beside the one of the test's own process. In one process,
 * the handshakes of hanging endpoints would delay the answers of the endpoints that are measured.
 */
export async function startReceiverProcess(certificate: KeyPairPem): Promise<ReceiverProcess> {
  const peer = await startPeer<ReceiverProcessCalls>(new URL('./receiver-process-main.ts', import.meta.url));
  const { port } = await peer.call('start', certificate);
  return {
    url: (path = '/') => `https://localhost:${port}${path}`,
    hang: (hangs) => peer.call('hang', hangs),
    [Symbol.asyncDispose]: () => peer.close(),
  };
}
