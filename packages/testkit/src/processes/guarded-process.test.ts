import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from '@jest/globals';
import { spawnGuarded } from './guarded-process.ts';

const env = { PATH: process.env.PATH };

describe('spawnGuarded', () => {
  it('collects both streams, line by line, and the exit code', async () => {
    const seen: string[] = [];
    const child = await spawnGuarded('/bin/sh', ['-c', 'echo one; echo two >&2; exit 3'], {
      env,
      onLine: (line) => seen.push(line),
    });
    expect(await child.exited).toEqual({ code: 3, signal: null });
    expect([...child.lines].sort()).toEqual(['one', 'two']);
    expect(seen.sort()).toEqual(['one', 'two']);
  });

  it('rejects with the reason when there is no such program', async () => {
    await expect(spawnGuarded('/no/such/program', [], { env })).rejects.toThrow('ENOENT');
  });

  it('gives the program the given environment and nothing of ours', async () => {
    const child = await spawnGuarded('/usr/bin/env', [], { env: { ONLY: 'this' } });
    await child.exited;
    expect(child.lines).toEqual(['ONLY=this']);
  });

  it('sends SIGKILL when the program ignores its stop signal', async () => {
    const ready = Promise.withResolvers<void>();
    const script = 'trap "" TERM; echo ready; while :; do sleep 0.05; done';
    const child = await spawnGuarded('/bin/sh', ['-c', script], { env, onLine: () => ready.resolve() });
    await ready.promise;
    expect(await child.stop(50)).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('ends the program when its parent is killed with SIGKILL', async () => {
    const parent = spawn(process.execPath, ['--input-type=module', '-e', parentScript], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const lines = createInterface({ input: parent.stdout });
    await once(lines, 'line');
    parent.kill('SIGKILL');
    const [exit] = await Promise.all([once(parent, 'exit'), once(lines, 'close')]);
    // The program would keep this pipe open for two minutes. It is closed: the program was ended.
    expect(exit).toEqual([null, 'SIGKILL']);
  });
});

const parentScript = `
  import { spawnGuarded } from '${new URL('./guarded-process.ts', import.meta.url).href}';
  const child = await spawnGuarded('/bin/sh', ['-c', 'exec sleep 120'], { env: process.env, output: 'inherit' });
  console.log(child.pid);
`;
