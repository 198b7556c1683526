import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { collectOutput, testIo } from '../testing/test-io.ts';
import { askSecret, confirm } from './ask.ts';

/** A keyboard whose echo is off while raw mode is on. */
function terminal() {
  const rawModes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => void rawModes.push(raw),
  }) as PassThrough & { isTTY: boolean; setRawMode: () => never };
  return { stdin, rawModes };
}

describe('a secret that is asked for', () => {
  it('is read up to Enter, with the echo off, and shown nowhere', async () => {
    const { stdin, rawModes } = terminal();
    const stderr = collectOutput({ isTTY: true });
    const stdout = collectOutput({ isTTY: true });
    const asked = askSecret(testIo({ stdin, stdout, stderr }), 'API key: ');
    expect(rawModes).toEqual([true]);
    stdin.write('nwk_wrong');
    stdin.write('\x15nwk_rihgt\x7f\x7f\x7f\x7fight');
    stdin.write('\r');
    expect(await asked).toBe('nwk_right');
    expect(rawModes).toEqual([true, false]);
    expect(stderr.text()).toBe('API key: \n');
    expect(stdout.text()).toBe('');
  });

  it('is given up by Ctrl-C, and the echo is on again', async () => {
    const { stdin, rawModes } = terminal();
    const asked = askSecret(testIo({ stdin }), 'API key: ');
    stdin.write('nwk_\x03');
    await expect(asked).rejects.toMatchObject({ outcome: 'interrupted' });
    expect(rawModes).toEqual([true, false]);
  });

  it('is the first line of standard input where there is no terminal, and no question is written', async () => {
    const stdin = new PassThrough();
    const stderr = collectOutput();
    stdin.end('  nwk_piped \nand more\n');
    expect(await askSecret(testIo({ stdin, stderr }), 'API key: ')).toBe('nwk_piped');
    expect(stderr.text()).toBe('');
  });
});

describe('a confirmation', () => {
  it.each([
    ['y\n', true],
    ['YES\n', true],
    ['\n', false],
    ['n\n', false],
    ['yep\n', false],
  ])('typed as %j', async (typed, expected) => {
    const { stdin } = terminal();
    const asked = confirm(testIo({ stdin }), 'Delete it?');
    stdin.write(typed);
    expect(await asked).toBe(expected);
  });
});
