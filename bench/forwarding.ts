import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { startPeer } from '@enterprise-api/testkit';
import type { ForwarderCalls } from './forwarding/forwarder-main.ts';
import { type ForwarderName, forwarders, optionalForwarders } from './forwarding/forwarders.ts';
import { download, upload } from './forwarding/transfer.ts';
import type { UpstreamCalls } from './forwarding/upstream-main.ts';
import type { GeneratorCalls } from './generator/load.ts';

// What HTTP clients cost as forwarders: CPU time of the forwarder's process, between a client and an upstream in processes
// of their own on loopback. CPU time rather than time, because it can be measured on a busy machine.
// BENCH_PACKAGES=<folder> names where `npm install http-proxy-3 httpxy` was run; without it those two are left out.
const mib = 1024 * 1024;
const method = { rounds: 3, requests: 15_000, warmUp: 10_000, connections: 20, streamedMib: 256, warmUpMib: 64 };
const resultFile = new URL('./results/forwarding.json', import.meta.url);

interface Cost {
  usPerRequest: number;
  usPerMibDown: number;
  usPerMibUp: number;
}

async function main(): Promise<void> {
  await using upstream = await startPeer<UpstreamCalls>(new URL('./forwarding/upstream-main.ts', import.meta.url));
  await using generator = await startPeer<GeneratorCalls>(new URL('./generator/main.ts', import.meta.url));
  const upstreamUrl = `http://127.0.0.1:${await upstream.call('port', null)}`;
  const names = (Object.keys(forwarders) as ForwarderName[]).filter(
    (name) => process.env.BENCH_PACKAGES !== undefined || !optionalForwarders.includes(name),
  );
  const costs = new Map(names.map((name) => [name, [] as Cost[]]));
  for (let round = 1; round <= method.rounds; round++) {
    for (const name of names) {
      const cost = await measure(name, upstreamUrl, (port, count) =>
        generator.call('run', { kind: 'closed', port, count, connections: method.connections, requests: [smallGet] }),
      );
      costs.get(name)?.push(cost);
      process.stderr.write(`round ${round}: ${name} ${JSON.stringify(cost)}\n`);
    }
  }
  const rows = [...costs].map(([name, rounds]) => summarize(name, rounds));
  const machine = { node: process.versions.node, cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism() };
  const measuredAt = new Date().toISOString().slice(0, 10);
  writeFileSync(
    resultFile,
    `${JSON.stringify({ measured_at: measuredAt, ...machine, method, results: rows }, null, 2)}\n`,
  );
  process.stdout.write(markdown(rows));
}

const smallGet = Buffer.from(
  'GET /v1/consultations/1 HTTP/1.1\r\nHost: bench\r\nAccept: application/json\r\nUser-Agent: benchmark\r\n\r\n',
);

async function measure(
  name: ForwarderName,
  upstream: string,
  send: (port: number, count: number) => Promise<{ statuses: Uint16Array }>,
): Promise<Cost> {
  await using peer = await startPeer<ForwarderCalls>(new URL('./forwarding/forwarder-main.ts', import.meta.url));
  const port = await peer.call('start', { name, upstream });
  const cpuOf = async (work: () => Promise<unknown>) => {
    const before = await peer.call('cpuUs', null);
    await work();
    return (await peer.call('cpuUs', null)) - before;
  };
  await send(port, method.warmUp);
  const small = await cpuOf(async () => {
    const { statuses } = await send(port, method.requests);
    if (statuses.some((status) => status !== 200))
      throw new Error(`${name}: a request failed, the measurement is void.`);
  });
  const usPerMib = async (transfer: (mebibytes: number) => Promise<void>) => {
    if (name === 'no forwarding') return 0;
    await transfer(method.warmUpMib);
    return (await cpuOf(() => transfer(method.streamedMib))) / method.streamedMib;
  };
  return {
    usPerRequest: small / method.requests,
    usPerMibDown: await usPerMib((count) => download(port, `/bytes/${count * mib}`, [], count * mib)),
    usPerMibUp: await usPerMib((count) => upload(port, '/', [], count * mib)),
  };
}

function summarize(forwarder: ForwarderName, rounds: readonly Cost[]) {
  const median = (values: number[]) => Math.round(values.sort((left, right) => left - right)[values.length >> 1] ?? 0);
  return {
    forwarder,
    cpu_us_per_small_get: median(rounds.map((cost) => cost.usPerRequest)),
    cpu_us_per_mib_down: median(rounds.map((cost) => cost.usPerMibDown)),
    cpu_us_per_mib_up: median(rounds.map((cost) => cost.usPerMibUp)),
  };
}

function markdown(rows: readonly ReturnType<typeof summarize>[]): string {
  const head = ['| forwarder | CPU µs per small GET | per MiB down | per MiB up |', '| --- | ---: | ---: | ---: |'];
  const lines = rows.map(
    (row) =>
      `| ${row.forwarder} | ${row.cpu_us_per_small_get} | ${row.cpu_us_per_mib_down} | ${row.cpu_us_per_mib_up} |`,
  );
  return `${[...head, ...lines].join('\n')}\n`;
}

await main();
