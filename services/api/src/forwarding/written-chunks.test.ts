import { expect, it } from '@jest/globals';
import { WrittenChunks } from './written-chunks.ts';

const read = (bytes: number) => Buffer.from(new ArrayBuffer(bytes));
const isFreed = ({ buffer }: Buffer) => (buffer as ArrayBuffer).detached;

function chunksThat(writing: { isDone: boolean }) {
  return new WrittenChunks(() => writing.isDone);
}

it('frees a chunk once the next one has come and the system has taken all before it', () => {
  const writing = { isDone: true };
  const chunks = chunksThat(writing);
  const [first, second, third, fourth] = [read(65_536), read(65_536), read(20_000), read(65_536)];
  chunks.next(first);
  expect(isFreed(first)).toBe(false);
  chunks.next(second);
  expect([first, second].map(isFreed)).toEqual([true, false]);
  writing.isDone = false;
  chunks.next(third);
  chunks.next(fourth);
  expect([second, third, fourth].map(isFreed)).toEqual([false, false, false]);
  writing.isDone = true;
  chunks.next(read(1));
  expect([second, third, fourth].map(isFreed)).toEqual([true, true, true]);
});

it('holds on to a bounded number of chunks while the system takes none', () => {
  const writing = { isDone: false };
  const chunks = chunksThat(writing);
  const all = Array.from({ length: 100 }, () => read(20_000));
  for (const chunk of all) chunks.next(chunk);
  writing.isDone = true;
  chunks.next(read(1));
  expect(all.filter(isFreed)).toHaveLength(64);
});

it('keeps a buffer as long as chunks of it come: its parser has not read all of it', () => {
  const chunks = chunksThat({ isDone: true });
  const buffer = read(65_536);
  for (const [start, end] of [
    [7, 40_000],
    [40_009, 50_000],
    [50_009, 60_000],
  ] as const) {
    chunks.next(buffer.subarray(start, end));
    expect(isFreed(buffer)).toBe(false);
  }
  chunks.next(read(65_536));
  expect(isFreed(buffer)).toBe(true);
});

it('never frees the pool that the whole process takes small buffers from', () => {
  const chunks = chunksThat({ isDone: true });
  const pooled = Buffer.allocUnsafe(Buffer.poolSize / 2 - 1);
  expect(pooled.buffer.byteLength).toBeGreaterThan(pooled.length);
  chunks.next(pooled);
  chunks.next(read(65_536));
  expect(isFreed(pooled)).toBe(false);
});
