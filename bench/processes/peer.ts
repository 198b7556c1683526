import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { pinned } from './pinning.ts';
import type { Answer, Calls } from './serve.ts';

/** Another process of the benchmark, asked by name. */
export interface Peer<C extends Calls> extends AsyncDisposable {
  readonly pid: number;
  call<Name extends keyof C & string>(name: Name, input: Parameters<C[Name]>[0]): Promise<Awaited<ReturnType<C[Name]>>>;
  close(): Promise<void>;
}

let nextId = 1;

/** Starts a program that ends in `serve(…)`. @param core the only one it may use, where the system can say so */
export async function startPeer<C extends Calls>(
  program: URL,
  { core, env = {} }: { core?: number | undefined; env?: Record<string, string> } = {},
): Promise<Peer<C>> {
  const [command, args] = pinned([process.execPath, fileURLToPath(program)], core);
  // Typed arrays travel as they are.
  const child = spawn(command, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
    env: { ...process.env, ...env },
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  child.on('message', ({ id, output, error }: Answer) => {
    const question = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) question?.resolve(output);
    else question?.reject(new Error(error));
  });
  const exited = once(child, 'exit');
  void exited.then(() => {
    for (const question of waiting.values()) question.reject(new Error(`${program.pathname.slice(-30)} has ended.`));
  });
  await once(child, 'spawn');
  const close = async () => {
    if (child.connected) child.disconnect();
    await exited;
  };
  return {
    pid: child.pid as number,
    call: (name, input) => {
      const question = Promise.withResolvers<unknown>();
      const id = nextId++;
      waiting.set(id, question);
      child.send({ id, name, input });
      return question.promise as never;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
