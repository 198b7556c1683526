import { PassThrough } from 'node:stream';
import type { Io, Output } from '../io.ts';

/** An output that remembers what was written. */
export function collectOutput(terminal: Partial<Pick<Output, 'isTTY' | 'columns'>> = {}) {
  let written = '';
  return {
    ...terminal,
    write: (text: string | Uint8Array) => {
      written += Buffer.from(text).toString();
      return true;
    },
    text: () => written,
  };
}

/** What a command is started with, without a terminal unless the streams are one. */
export function testIo(given: Partial<Io> = {}): Io {
  return {
    stdin: new PassThrough(),
    stdout: collectOutput(),
    stderr: collectOutput(),
    env: {},
    signal: new AbortController().signal,
    ...given,
  };
}
