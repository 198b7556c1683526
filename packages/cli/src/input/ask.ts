import { Failure } from '../failure.ts';
import type { Io } from '../io.ts';

/** Asks on the terminal without showing the input. Without a terminal, reads a line of standard input. */
export async function askSecret(io: Io, question: string): Promise<string> {
  if (!io.stdin.isTTY) return firstLine(await readAll(io));
  io.stderr.write(question);
  try {
    return await readHidden(io);
  } finally {
    io.stderr.write('\n');
  }
}

/** Asks for a line of text. Without a terminal, reads a line of standard input. */
export async function askText(io: Io, question: string): Promise<string> {
  if (!io.stdin.isTTY) return firstLine(await readAll(io));
  io.stderr.write(question);
  return (await readVisible(io)).trim();
}

/**
 * Asks a yes/no question.
 *
 * @returns true only for y or yes
 */
export async function confirm(io: Io, question: string): Promise<boolean> {
  io.stderr.write(`${question} [y/N] `);
  const answer = await readVisible(io);
  return /^y(es)?$/i.test(answer.trim());
}

/** Reads a subject. It may name a person, so it is no argument: other users of the machine see those. */
export const readSubject = async (io: Io): Promise<string> => (await readAll(io)).replace(/\r?\n$/, '');

/** Reads standard input to its end. */
export const readAll = async (io: Io): Promise<string> => (await readBytes(io)).toString('utf8');

export async function readBytes({ stdin, signal }: Io): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const stop = () => (stdin as Partial<{ destroy(): void }>).destroy?.();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array | string));
  } finally {
    signal.removeEventListener('abort', stop);
    signal.throwIfAborted();
  }
  return Buffer.concat(chunks);
}

const firstLine = (text: string) => (text.split('\n', 1)[0] ?? '').trim();

/** Reads characters until Enter while the terminal's echo is off. */
async function readHidden(io: Io): Promise<string> {
  io.stdin.setRawMode?.(true);
  try {
    return (await readKeys(io)).trim();
  } finally {
    io.stdin.setRawMode?.(false);
  }
}

const readVisible = (io: Io) => readKeys(io);

const keys = { enter: ['\r', '\n'], erase: ['\x7f', '\b'], interrupt: '\x03', end: '\x04', eraseLine: '\x15' };

/** Collects characters until Enter. In raw mode Ctrl-C is an ordinary character, so this code handles it. */
function readKeys({ stdin, signal }: Io): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let typed = '';
  const onData = (chunk: Buffer | string) => {
    for (const key of chunk.toString()) {
      if (keys.enter.includes(key) || key === keys.end) return resolve(typed);
      if (key === keys.interrupt) return reject(new Failure('interrupted', 'Interrupted.'));
      if (keys.erase.includes(key)) typed = typed.slice(0, -1);
      else if (key === keys.eraseLine) typed = '';
      else typed += key;
    }
  };
  const onEnd = () => resolve(typed);
  const onAbort = () => reject(signal.reason as Error);
  stdin.on('data', onData).once('end', onEnd).resume();
  signal.addEventListener('abort', onAbort, { once: true });
  return promise.finally(() => {
    stdin.off('data', onData).off('end', onEnd).pause();
    signal.removeEventListener('abort', onAbort);
  });
}
