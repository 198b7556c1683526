import type { ReadStream, WriteStream } from 'node:tty';

/** A stream that text is written to: a terminal, a pipe or a file. */
export type Output = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** What the process was started with, so that tests can say what is a terminal. */
export interface Io {
  stdin: NodeJS.ReadableStream & Partial<Pick<ReadStream, 'isTTY' | 'setRawMode'>>;
  /** Results. */
  stdout: Output;
  /** Everything else: questions, progress, notes, errors. */
  stderr: Output;
  env: Environment;
  /** Aborts on Ctrl-C, on SIGTERM, and when nobody reads the output any more. */
  signal: AbortSignal;
}
