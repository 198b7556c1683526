import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { KeyPairPem } from '@enterprise-api/testkit';

/** What the process is told, and the port that it answers with. */
export type Instruction = { certificate: KeyPairPem } | { hang: boolean };

/** A receiver in a process of its own, which answers 200, or not at all. */
export interface OtherReceiver extends AsyncDisposable {
  readonly url: string;
  hang(hang: boolean): void;
}

/**
 * Endpoints of two parties are not one process: beside the healthy ones in the test's own, the handshakes of those that
 * hang would hold up the answers that are being measured.
 */
export async function startOtherReceiver(certificate: KeyPairPem): Promise<OtherReceiver> {
  const child = fork(fileURLToPath(new URL('./other-receiver-main.ts', import.meta.url)), {
    execArgv: ['--no-warnings'],
  });
  const tell = (instruction: Instruction) => void child.send(instruction);
  tell({ certificate });
  const [port] = (await once(child, 'message')) as [number];
  return {
    url: `https://localhost:${port}/hanging`,
    hang: (hang) => tell({ hang }),
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
