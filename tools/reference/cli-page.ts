import { createProgram } from '../../packages/cli/src/program.ts';

type Command = ReturnType<typeof createProgram>;

/** The page of all commands: the help of each, as the command line prints it. */
export function cliPage(): string {
  let written = '';
  const output = {
    write: (text: string | Uint8Array) => {
      written += text.toString();
      return true;
    },
  };
  const program = createProgram({
    stdin: process.stdin,
    stdout: output,
    stderr: output,
    // The help shows internal commands only where an internal address is known.
    env: { ENTERPRISE_API_INTERNAL_URL: 'http://127.0.0.1:3001', ENTERPRISE_API_INTERNAL_SECRET: 'secret' },
    signal: new AbortController().signal,
  });
  const sections = commandsBelow(program, program.name()).map(({ path, command }) => {
    written = '';
    command.outputHelp();
    return `## ${path}\n\n\`\`\`text\n${written.trim()}\n\`\`\`\n`;
  });
  return `# Command line\n\nThe help of every command, written by \`npm run reference\`.\n\n${sections.join('\n')}`;
}

function commandsBelow(command: Command, path: string): { path: string; command: Command }[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  return [{ path, command }, ...children.flatMap((child) => commandsBelow(child, `${path} ${child.name()}`))];
}
