import { describe, expect, it } from '@jest/globals';
import { LogOutput } from './logger.ts';

/** An output to a pipe that holds so many bytes until it is read. */
function pipeOf(capacity: number) {
  let held = '';
  let read = '';
  const output = new LogOutput((bytes) => {
    const free = capacity - held.length;
    if (free === 0) throw Object.assign(new Error('try again'), { code: 'EAGAIN' });
    held += Buffer.from(bytes.subarray(0, free)).toString();
    return Math.min(free, bytes.length);
  });
  const drain = () => {
    read += held;
    held = '';
  };
  const untilRead = async (text: string) => {
    for (drain(); read !== text; drain()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return { output, drain, untilRead, read: () => read };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the log output', () => {
  it('writes the lines of one iteration of the event loop in one write', async () => {
    const writes: string[] = [];
    const output = new LogOutput((bytes) => writes.push(Buffer.from(bytes).toString()) && bytes.length);
    output.write('a\n');
    output.write('b\n');
    expect(writes).toEqual([]);
    await turn();
    expect(writes).toEqual(['a\nb\n']);
  });

  it('keeps lines that the reader does not accept, and writes the rest of a line that was cut', async () => {
    const { output, untilRead, read } = pipeOf(5);
    for (const line of ['12\n', '456\n', '8\n']) output.write(line);
    await turn();
    output.write('9\n');
    await untilRead('12\n456\n8\n9\n');
    expect(read()).toHaveLength(11);
  });

  it('drops and counts lines beyond its limit, and writes all others', async () => {
    const { output, untilRead } = pipeOf(6_000_000);
    const lines = ['1', '2', '3', '4', '5'].map((each) => `${each.repeat(2_500_000)}\n`);
    for (const line of lines) output.write(line);
    expect(output.dropped).toBe(2);
    await untilRead(lines.slice(0, 3).join(''));
    expect(output.dropped).toBe(2);
  });

  it('flushes everything while its reader reads, and gives up on one that does not', () => {
    const { output, drain, read } = pipeOf(4);
    output.write('1\n2\n');
    output.flushSync(1_000);
    drain();
    expect(read()).toBe('1\n2\n');
    output.write('1234567\n');
    output.flushSync(20);
    drain();
    expect(read()).toBe('1\n2\n1234');
  });
});
