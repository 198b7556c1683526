import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { examples } from './examples.ts';
import type { Environment } from './io.ts';
import { createProgram, run } from './program.ts';
import { collectOutput, testIo } from './testing/test-io.ts';

const programOf = (env: Environment = {}) => createProgram(testIo({ env: { HOME: '/nonexistent', ...env } }));

function leavesOf(command: Command, path: string[] = []): string[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  return children.length === 0
    ? [path.join(' ')]
    : children.flatMap((child) => leavesOf(child, [...path, child.name()]));
}

describe('examples', () => {
  it('exist for every command', () => {
    expect(Object.keys(examples).toSorted()).toEqual(leavesOf(programOf()).toSorted());
  });

  it.each(Object.entries(examples))('%s %s has only options that the command knows', (path, example) => {
    const program = programOf();
    const command = path
      .split(' ')
      .reduce((parent, name) => parent.commands.find((child) => child.name() === name) ?? parent, program);
    const known = [...command.options, ...program.options].flatMap(({ short, long }) => [short, long]);
    const used = example.match(/(?<= |^)--?[a-z-]+/g) ?? [];
    expect(used.filter((option) => !known.includes(option))).toEqual([]);
  });
});

describe('the help', () => {
  const internal = ['orgs', 'keys', 'audit', 'ops', 'runbook'];
  const shown = (env: Environment) =>
    internal.filter((name) => new RegExp(`^  ${name}\\b`, 'm').test(programOf(env).helpInformation()));

  it('shows no internal command where no internal address is known', () => {
    expect(shown({})).toEqual([]);
    expect(programOf().helpInformation()).toMatch(/^ {2}webhooks\b/m);
  });

  it.each(['ENTERPRISE_API_INTERNAL_URL', 'INTERNAL_API_SECRET', 'INTERNAL_API_SECRET_FILE'])(
    'shows internal commands with %s',
    (variable) => {
      expect(shown({ [variable]: 'http://127.0.0.1:3001' })).toEqual(internal);
    },
  );
});

describe('runbook', () => {
  const runCommand = async (...args: string[]) => {
    const [stdout, stderr] = [collectOutput(), collectOutput()];
    const code = await run(['runbook', ...args], testIo({ stdout, stderr, env: { HOME: '/nonexistent' } }));
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };

  it('prints the section of an alert, and nothing of the next, without an API', async () => {
    const { code, stdout } = await runCommand('apidown');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^### ApiDown\n/);
    expect(stdout.match(/^#+ /gm)).toEqual(['### ']);
  });

  it('lists the alerts without a name, and refuses an unknown one', async () => {
    expect((await runCommand()).stdout.split('\n')).toContain('WorkersDown');
    expect(await runCommand('Nothing')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('no runbook "Nothing"'),
    });
  });
});
