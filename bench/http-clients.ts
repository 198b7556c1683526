import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { startPeer } from '@enterprise-api/testkit';
import { clients } from './http-clients/clients.ts';
import type { MeasureCalls, Measurement, Task } from './http-clients/measure.ts';
import type { ReceiverCalls } from './http-clients/receiver.ts';

// The cost of one HTTPS POST by client: CPU time of the client's process, over kept-alive connections to a receiver in
// another process on loopback. CPU time rather than time, because it can be measured on a busy machine. The warm-up is
// long because compiling is CPU time too: after 1,000 requests a client still costs up to twice as much.
const method = { rounds: 3, requests: 10_000, warmUp: 10_000, concurrency: 20, bodyBytes: 1_024 };
const names = Object.keys(clients) as (keyof typeof clients)[];
const resultFile = new URL('./results/http-clients.json', import.meta.url);

interface Row {
  client: string;
  version: string;
  cpu_us_per_request: { median: number; min: number; max: number };
  requests_per_second: number;
}

async function main(): Promise<void> {
  await using receiver = await startPeer<ReceiverCalls>(new URL('./http-clients/receiver.ts', import.meta.url));
  const { url, ca } = await receiver.call('address', null);
  const measurements = new Map(names.map((name) => [name, [] as Measurement[]]));
  // Round by round, so that a slow minute of the machine affects every client.
  for (let round = 1; round <= method.rounds; round++) {
    for (const client of names) {
      const measurement = await measure({ ...method, client, url, ca });
      measurements.get(client)?.push(measurement);
      process.stderr.write(`round ${round}: ${client} ${measurement.cpuUsPerRequest.toFixed(1)} µs\n`);
    }
  }
  const rows = [...measurements].map(([client, rounds]) => summarize(client, rounds));
  mkdirSync(new URL('.', resultFile), { recursive: true });
  writeFileSync(resultFile, `${JSON.stringify(report(rows), null, 2)}\n`);
  process.stdout.write(markdown(rows));
}

async function measure(task: Task): Promise<Measurement> {
  await using client = await startPeer<MeasureCalls>(new URL('./http-clients/measure.ts', import.meta.url));
  return await client.call('measure', task);
}

function summarize(client: string, rounds: readonly Measurement[]): Row {
  const cpu = rounds.map((round) => round.cpuUsPerRequest).sort((left, right) => left - right);
  const rates = rounds.map((round) => round.requestsPerSecond).sort((left, right) => left - right);
  const middle = Math.floor(rounds.length / 2);
  const tenth = (value = 0) => Math.round(value * 10) / 10;
  return {
    client,
    version: versionOf(client),
    cpu_us_per_request: { median: tenth(cpu[middle]), min: tenth(cpu[0]), max: tenth(cpu.at(-1)) },
    requests_per_second: Math.round(rates[middle] ?? 0),
  };
}

function versionOf(client: string): string {
  if (client.startsWith('node:')) return process.versions.node;
  const manifest = client.startsWith('our')
    ? '../packages/shared/package.json'
    : `${client.split('.')[0]}/package.json`;
  // Not every package exports its manifest, but each of them can be found by its folder.
  const folder = manifest.startsWith('..') ? '' : '../node_modules/';
  return JSON.parse(readFileSync(new URL(`${folder}${manifest}`, import.meta.url), 'utf8')).version;
}

function report(rows: readonly Row[]): object {
  const { rounds, requests, warmUp, concurrency, bodyBytes } = method;
  return {
    measured_at: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    method: {
      rounds,
      requests,
      warm_up: warmUp,
      concurrency,
      body_bytes: bodyBytes,
      tls: 'TLS 1.3, keep-alive, loopback',
    },
    results: rows,
  };
}

function markdown(rows: readonly Row[]): string {
  const head = ['| client | CPU µs per POST, median (min–max) | requests/s |', '| --- | ---: | ---: |'];
  const lines = rows.map(({ client, version, cpu_us_per_request: cpu, requests_per_second: rate }) => {
    return `| ${client} ${version} | ${cpu.median} (${cpu.min}–${cpu.max}) | ${rate} |`;
  });
  return `${[...head, ...lines].join('\n')}\n`;
}

await main();
