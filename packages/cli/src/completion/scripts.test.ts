import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { createProgram } from '../program.ts';
import { testIo } from '../testing/test-io.ts';
import { readCommandTree } from './command-tree.ts';
import { completionScript, type Shell } from './scripts.ts';

const tree = readCommandTree(createProgram(testIo()));

/** What the shell offers for the last word of a line. */
function offered(shell: Shell, line: string): string[] {
  const script = completionScript(shell, tree);
  const { stdout, stderr, status } = spawnSync(
    shell,
    ['-c', asks[shell](script, line.split(' ')), 'completion', line],
    {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: '/nonexistent' },
    },
  );
  if (status !== 0) throw new Error(`${shell} ended with ${status}: ${stderr}`);
  return stdout.split('\n').filter((word) => word !== '');
}

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ');

const asks: Record<Shell, (script: string, words: string[]) => string> = {
  bash: (script, words) => `${script}
COMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}
_enterprise_api
printf '%s\\n' "\${COMPREPLY[@]}"`,
  // zsh completes on a terminal only: its own functions, which the script calls, print here what they are given.
  zsh: (script, words) => `compdef() { :; }
_files() { :; }
compadd() { shift; print -l -- "$@"; }
_describe() { local list=\${@[-1]}; print -l -- \${(P)list%%:*}; }
${script}
words=(${quoted(words)}); CURRENT=${words.length}
_enterprise_api | while read -r word; do [[ $word == '${words.at(-1)}'* ]] && print -- $word; done; true`,
  fish: (script) => `${script}
complete -C $argv[-1] | string replace -r '\\t.*' ''; true`,
};

const shells: Shell[] = ['bash', 'zsh', 'fish'];
const present = shells.filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0);

it('is tried in the shells of this machine; without any, this suite would say nothing', () => {
  expect(present).not.toEqual([]);
  for (const shell of shells) {
    if (!present.includes(shell))
      process.stderr.write(`The completion is not run in ${shell}: it is not on this machine.\n`);
  }
});

describe.each(present)('completion in %s', (shell) => {
  const sorted = (line: string) => offered(shell, line).sort();

  it('offers commands', () => {
    expect(sorted('enterprise-api de')).toEqual(['deliveries']);
    expect(sorted('enterprise-api webhooks re')).toEqual(['replay', 'resume']);
    expect(sorted('enterprise-api webhooks ')).toEqual(expect.arrayContaining(['create', 'list', 'rotate-secret']));
    expect(sorted('enterprise-api webhooks ')).not.toContain('tail');
  });

  it('offers the options of the command and of the program', () => {
    expect(sorted('enterprise-api deliveries list --st')).toEqual(['--status']);
    expect(sorted('enterprise-api webhooks list --js')).toEqual(['--json']);
    expect(sorted('enterprise-api webhooks list --forward')).toEqual([]);
  });

  it('offers the values of options and operands that have a fixed choice', () => {
    expect(sorted('enterprise-api orgs create Acme --plan b')).toEqual(['business']);
    expect(sorted('enterprise-api deliveries list --order ')).toEqual(['asc', 'desc']);
    expect(sorted('enterprise-api completion z')).toEqual(['zsh']);
  });

  it('finds the command behind options with values, also when a value is the name of a command', () => {
    expect(sorted('enterprise-api --json --profile webhooks deliveries sh')).toEqual(['show']);
  });
});
