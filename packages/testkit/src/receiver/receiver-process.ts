import { startPeer } from '../processes/peer.ts';
import type { KeyPairPem } from './certificates.ts';

export type ReceiverProcessCalls = {
  start: (options: { certificate: KeyPairPem; host: string }) => Promise<{ port: number }>;
  hang: (hangs: boolean) => void;
};

/** A receiver in a process of its own, which answers 200, or not at all, and keeps nothing of what it receives. */
export interface ReceiverProcess extends AsyncDisposable {
  /** `https://<host>:<port><path>`; the host is `localhost` unless given. */
  url(path?: string, host?: string): string;
  /** True: requests get no answer from now on. False: new and waiting requests are answered. */
  hang(hangs: boolean): Promise<void>;
}

/**
 * Starts a receiver beside the one of the test's own process. In one process,
 * the handshakes of hanging endpoints would delay the answers of the endpoints that are measured.
 *
 * @param host the address to listen on
 */
export async function startReceiverProcess(certificate: KeyPairPem, host = '127.0.0.1'): Promise<ReceiverProcess> {
  const peer = await startPeer<ReceiverProcessCalls>(new URL('./receiver-process-main.ts', import.meta.url));
  const { port } = await peer.call('start', { certificate, host });
  return {
    url: (path = '/', name = 'localhost') => `https://${name}:${port}${path}`,
    hang: (hangs) => peer.call('hang', hangs),
    [Symbol.asyncDispose]: () => peer.close(),
  };
}
