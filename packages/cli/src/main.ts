import { exitCodes } from './exit-codes.ts';
import { Interruption } from './interruption.ts';
import { run } from './program.ts';

// The process of `enterprise-api`. It ends by itself when nothing is left to do, with the exit code of the command.
const ending = new AbortController();
const interrupt = (signal: 'SIGINT' | 'SIGTERM' | 'EPIPE') => ending.abort(new Interruption(signal));

// Once: a second Ctrl-C ends the process at once, should the first not have done so.
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
