import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createApiClient,
  freePorts,
  openStage,
  projectFolder,
  type ServiceProcess,
  sendRequest,
  startIngress,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const cells = ['cell_one', 'cell_two'] as const;
const resources = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), 'cells-'));
let apis: ServiceProcess[];
/** A key of each cell. */
let keys: { secret: string; key_prefix: string }[];
let front: string;

beforeAll(async () => {
  const stages = await Promise.all(cells.map(() => openStage({ redisUrl: undefined })));
  for (const stage of stages) resources.use(stage);
  apis = await Promise.all(stages.map((stage) => stage.startApi({ API_TRUSTED_PROXIES: '127.0.0.1/32' })));
  keys = await Promise.all(
    apis.map(async (api) => {
      const client = createApiClient(api);
      return client.createKey((await client.createOrganization()).id);
    }),
  );
  writeFileSync(join(folder, 'keys.map'), `${keys[1]?.key_prefix} cell_two;\n`);
  writeFileSync(join(folder, 'hosts.map'), 'one.api.example.com cell_one;\ntwo.api.example.com cell_two;\n');
  const [port = 0] = await freePorts(1);
  resources.use(await startIngress('nginx', { config: configuration(port), port }));
  front = `http://127.0.0.1:${port}`;
});

afterAll(async () => {
  await resources.disposeAsync();
  rmSync(folder, { recursive: true });
});

/** `examples/cells/nginx.conf` with the places of this test, and without TLS. */
function configuration(port: number): string {
  const text = readFileSync(join(projectFolder, 'examples/cells/nginx.conf'), 'utf8');
  const upstreams = cells.map(
    (cell, index) => `upstream ${cell} { server 127.0.0.1:${new URL(apis[index]?.url ?? '').port}; keepalive 32; }`,
  );
  return text
    .replace(/^upstream .*$/gm, '')
    .replace(/^ +ssl_.*$/gm, '')
    .replace('listen 443 ssl http2', `listen 127.0.0.1:${port}`)
    .replaceAll('/etc/nginx/cells', folder)
    .concat('\n', upstreams.join('\n'));
}

const get = (path: string, headers: Record<string, string>) =>
  sendRequest({ method: 'GET', url: `${front}${path}`, headers });
const bearer = (index: number) => ({ authorization: `Bearer ${keys[index]?.secret}` });

describe('one public address for two cells', () => {
  it.each([0, 1])('leads the key of an organization to its cell (%d)', async (index) => {
    const { status, headers, body } = await get('/v1/me', bearer(index));
    const direct = await sendRequest({ method: 'GET', url: `${apis[index]?.url}/v1/me`, headers: bearer(index) });
    expect({ status, cell: headers['x-cell'] }).toEqual({ status: 200, cell: cells[index] });
    expect(body).toEqual(direct.body);
  });

  it('leads by the name of the host where it names a cell, and a key of another cell opens nothing there', async () => {
    const host = { host: 'two.api.example.com' };
    expect(await get('/v1/me', { ...host, ...bearer(1) })).toMatchObject({ status: 200 });
    const wrong = await get('/v1/me', { ...host, ...bearer(0) });
    expect({ status: wrong.status, cell: wrong.headers['x-cell'] }).toEqual({ status: 401, cell: 'cell_two' });
  });

  it('answers requests without a key from the first cell', async () => {
    expect(await get('/v1/me', {})).toMatchObject({ status: 401, headers: { 'x-cell': 'cell_one' } });
    expect(await get('/docs', {})).toMatchObject({ status: 200, headers: { 'x-cell': 'cell_one' } });
  });

  it('writes where it reads: a webhook is in one cell alone', async () => {
    const made = await sendRequest({
      method: 'POST',
      url: `${front}/v1/webhooks`,
      headers: { ...bearer(1), 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'https://127.0.0.1:8443/hooks', events: ['*'] }),
    });
    expect(made.status).toBe(201);
    const { body } = await get('/v1/webhooks', bearer(0));
    expect(body.data).toEqual([]);
  });

  it('the end of a cell is not noticed by the customers of the other', async () => {
    await apis[0]?.stop();
    const isAway = async () => (await get('/v1/me', bearer(0))).status === 502;
    await until('the first cell is away', isAway);
    expect(await get('/v1/me', bearer(1))).toMatchObject({ status: 200 });
  });
});
