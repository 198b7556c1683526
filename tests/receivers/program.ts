import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, type Stage, spawnGuarded, until } from '@enterprise-api/testkit';
import type { Framework } from './frameworks/framework.ts';
import { withinMs } from './stage.ts';
import { startTlsFront } from './tls-front.ts';

/** A first run downloads and compiles what some programs need. */
export const prepareWithinMs = 1_200_000;

/** A receiver that runs in a folder of its own, behind a server that ends TLS. */
export interface Program extends AsyncDisposable {
  readonly folder: string;
  readonly port: number;
  /** What it printed. */
  readonly lines: readonly string[];
  url(path: string): string;
}

interface Source extends Pick<Framework, 'name' | 'file' | 'prepare'> {
  source: string;
}

/** Starts a receiver that takes PORT and WEBHOOK_SECRET from its environment. */
export async function startProgram(
  { name, file, source, prepare }: Source,
  stage: Stage,
  secret: string,
): Promise<Program> {
  await using building = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'enterprise-api-receiver-'));
  building.defer(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, file), source);
  const run = async (command: string, args: readonly string[]) =>
    void (await promisify(execFile)(command, [...args], { cwd: folder, timeout: prepareWithinMs }));
  const { command, args } = await prepare(folder, run);
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret };
  const program = building.use(await spawnGuarded(command, args, { cwd: folder, env }));
  const front = building.use(await startTlsFront(stage.certificate, port));
  let hasEnded = false;
  void program.exited.then(() => {
    hasEnded = true;
  });
  await until(`${name} listens`, async () => hasEnded || (await accepts(port)), { withinMs }).catch((error) => {
    throw new Error(program.lines.join('\n'), { cause: error });
  });
  if (hasEnded) throw new Error(program.lines.join('\n'));
  const resources = building.move();
  return {
    folder,
    port,
    lines: program.lines,
    url: (path) => `https://localhost:${front.port}${path}`,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Whether something listens there. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
