import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sendRequest } from '../http/http-request.ts';
import { acceptsConnections } from '../network/accepts-connections.ts';
import { until } from '../until.ts';
import { findProgram } from './find-program.ts';
import { freePort } from './free-ports.ts';
import { spawnGuarded } from './guarded-process.ts';

export interface Prometheus extends AsyncDisposable {
  readonly url: string;
  /** The series that an expression gives now. @throws with what Prometheus says when it refuses the expression */
  query(expression: string): Promise<readonly { metric: Readonly<Record<string, string>>; value: [number, string] }[]>;
}

/**
 * Starts a Prometheus with this configuration (YAML), and storage of its own that goes with it.
 *
 * @throws when the program is not installed, or refuses the configuration
 */
export async function startPrometheus(configuration: string): Promise<Prometheus> {
  const program = findProgram(['prometheus'], process.env.PATH);
  if (program === undefined) throw new Error('This test starts Prometheus: install the package prometheus.');
  await using building = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'enterprise-api-prometheus-'));
  building.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'prometheus.yaml');
  await writeFile(file, configuration);
  const port = await freePort();
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = building.use(await spawnGuarded(program, args, { env: {}, cwd: folder }));
  const ended = new AbortController();
  void child.exited.then(() => ended.abort(new Error(`Prometheus ended:\n${child.lines.slice(-8).join('\n')}`)));
  const url = `http://127.0.0.1:${port}`;
  await until('Prometheus accepts connections', () => acceptsConnections(port), {
    withinMs: 30_000,
    signal: ended.signal,
  });
  const resources = building.move();
  return {
    url,
    query: async (expression) => {
      const target = `${url}/api/v1/query?query=${encodeURIComponent(expression)}`;
      const answer = await sendRequest({ method: 'GET', url: target });
      if (answer.status !== 200) throw new Error(`Prometheus refuses ${expression}: ${answer.text}`);
      return JSON.parse(answer.text).data.result;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
