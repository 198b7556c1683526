import type { ReadStream, WriteStream } from 'node:tty';

/** An output stream: a terminal, a pipe or a file. */
export type Output = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** The streams and environment of the process. Tests replace them. */
export interface Io {
  stdin: NodeJS.ReadableStream & Partial<Pick<ReadStream, 'isTTY' | 'setRawMode'>>;
  /** For results. */
  stdout: Output;
  /** For questions, progress, notes and errors. */
  stderr: Output;
  env: Environment;
  /** Aborts on Ctrl-C, on SIGTERM, and when nobody reads the output any more. */
  signal: AbortSignal;
}
