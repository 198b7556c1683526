import { exitCodes } from './exit-codes.ts';
import { Interruption } from './interruption.ts';
import { run } from './program.ts';

// The process of `enterprise-api`. It ends when nothing is left to do, with the command's exit code.
const ending = new AbortController();
const interrupt = (signal: 'SIGINT' | 'SIGTERM' | 'EPIPE') => ending.abort(new Interruption(signal));

// Handles only the first signal. If the process hangs, a second Ctrl-C ends it at once.
process.once('SIGINT', () => interrupt('SIGINT'));
process.once('SIGTERM', () => interrupt('SIGTERM'));
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    interrupt('EPIPE');
  });
}

const { stdin, stdout, stderr, env } = process;
process.exitCode = exitCodes.failure.code;
process.exitCode = await run(process.argv.slice(2), { stdin, stdout, stderr, env, signal: ending.signal });
