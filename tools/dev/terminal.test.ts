import { describe, expect, it } from '@jest/globals';
import { createTerminal } from './terminal.ts';

function capture(isTTY: boolean, env: Record<string, string> = {}) {
  const written: string[] = [];
  const out = { isTTY, columns: 80, write: (text: string) => written.push(text) > 0 };
  return { terminal: createTerminal(out, env), text: () => written.join('') };
}

describe('createTerminal', () => {
  it('writes plain lines where there is no terminal', async () => {
    const { terminal, text } = capture(false);
    terminal.title('Title');
    terminal.good('fine');
    terminal.bad('not fine');
    terminal.note('by the way');
    await terminal.step('working', async () => 'worked');
    expect(text()).toBe('\nTitle\n✓ fine\n✗ not fine\n! by the way\n✓ worked\n');
  });

  it('colours on a terminal, unless NO_COLOR asks for none', () => {
    const coloured = capture(true);
    coloured.terminal.good('fine');
    expect(coloured.text()).toBe('\x1b[32m✓\x1b[0m fine\n');
    const plain = capture(true, { NO_COLOR: '1' });
    plain.terminal.good('fine');
    expect(plain.text()).toBe('✓ fine\n');
  });

  it('erases the animated line before it writes another one, and at the end', async () => {
    const { terminal, text } = capture(true, { NO_COLOR: '1' });
    await terminal.step('working', async (update) => {
      update('still working');
      terminal.line('in between');
      return 'worked';
    });
    const frame = '\r\x1b[K⠋ ';
    expect(text()).toBe(`${frame}working …\r\x1b[Kin between\n${frame}still working …\r\x1b[K✓ worked\n`);
  });

  it('erases the animated line when the work fails', async () => {
    const { terminal, text } = capture(true);
    const work = async () => {
      throw new Error('broken');
    };
    await expect(terminal.step('working', work)).rejects.toThrow('broken');
    expect(text().endsWith('\r\x1b[K')).toBe(true);
  });
});
