import { describe, expect, it } from '@jest/globals';
import { InformationalFilter } from './informational-filter.ts';

const informational = 'HTTP/1.1 100 Continue\r\nx: y\r\n\r\n';
const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n';
const final = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

/** What a parser reads when these chunks arrive one by one. */
function read(chunks: string[], armed = true): string {
  const waiting: (Buffer | null)[] = chunks.flatMap((chunk) => [Buffer.from(chunk), null]);
  const source = {
    read: (_size?: number): Buffer | null => waiting.shift() ?? null,
    destroy: (error: Error) => {
      throw error;
    },
  };
  const filter = new InformationalFilter(source, () => new Error('informational responses without end'));
  if (armed) filter.arm();
  let text = '';
  while (waiting.length > 0) text += source.read()?.toString() ?? '';
  return text;
}

describe('an informational response', () => {
  it('is removed before a final one, once or often', () => {
    expect(read([informational + final])).toBe(final);
    expect(read([informational + hints + informational + final])).toBe(final);
    expect(read([informational, informational, final])).toBe(final);
    expect(read([final])).toBe(final);
  });

  it('is removed however its bytes are cut', () => {
    const bytes = informational + hints + final;
    expect(read(bytes.split(''))).toBe(final);
    for (let cut = 1; cut < bytes.length; cut += 1) expect(read([bytes.slice(0, cut), bytes.slice(cut)])).toBe(final);
  });

  it('stays inside an answer, and while no answer is due', () => {
    expect(read([final + informational])).toBe(final + informational);
    expect(read([final, informational])).toBe(final + informational);
    expect(read([informational], false)).toBe(informational);
  });

  it('reaches the parser when its head has no end', () => {
    const endless = `HTTP/1.1 100 Continue\r\nx: ${'y'.repeat(17_000)}`;
    expect(read([endless])).toBe(endless);
  });

  it('ends the connection when its kind comes without end', () => {
    const many = hints.repeat(40_000);
    expect(() => read([many])).toThrow('informational responses without end');
    expect(read([hints.repeat(30_000) + final])).toBe(final);
  });

  it('is not confused with another status', () => {
    for (const other of [
      'HTTP/1.1 101 Switching Protocols\r\n\r\n',
      'HTTP/1.1 1000 X\r\n\r\n',
      'HTTP/1.0 200 OK\r\n\r\n',
      'SSH-2.0\r\n',
      'H',
      'HTTP/1.1 20',
    ]) {
      expect(read([`${other}${final}`])).toBe(`${other}${final}`);
    }
  });
});
