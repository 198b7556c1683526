import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { PeerAnswer, PeerCalls } from './peer-calls.ts';

/** A program of ours in a process of its own, whose functions are called by name. */
export interface Peer<Calls extends PeerCalls> extends AsyncDisposable {
  readonly pid: number;
  call<Name extends keyof Calls & string>(
    name: Name,
    input: Parameters<Calls[Name]>[0],
  ): Promise<Awaited<ReturnType<Calls[Name]>>>;
  close(): Promise<void>;
}

export interface PeerOptions {
  /** Put before the command, for example `['taskset', '-c', '1']`. */
  prefix?: readonly string[];
}

let nextId = 1;

/** Starts a program that ends in `answerCalls(…)`. It ends with this process. */
export async function startPeer<Calls extends PeerCalls>(
  program: URL,
  { prefix = [] }: PeerOptions = {},
): Promise<Peer<Calls>> {
  const [command, ...args] = [...prefix, process.execPath, fileURLToPath(program)];
  // Advanced serialization: typed arrays travel as they are.
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  child.on('message', ({ id, output, error }: PeerAnswer) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(output);
    else call?.reject(new Error(error));
  });
  const exited = once(child, 'exit');
  void exited.then(() => {
    for (const call of waiting.values()) call.reject(new Error(`${program.pathname.slice(-30)} has ended.`));
  });
  await once(child, 'spawn');
  const close = async () => {
    if (child.connected) child.disconnect();
    await exited;
  };
  return {
    pid: child.pid as number,
    call: (name, input) => {
      const result = Promise.withResolvers<unknown>();
      const id = nextId++;
      waiting.set(id, result);
      child.send({ id, name, input });
      return result.promise as never;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
