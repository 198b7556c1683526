import {
  createApiClient,
  findIngress,
  freePort,
  quantile,
  residentMemory,
  startIngress,
  startPeer,
} from '@enterprise-api/testkit';
import { openStreams } from '../forwarding/event-streams.ts';
import type { ForwarderCalls } from '../forwarding/forwarder-main.ts';
import { download, upload } from '../forwarding/transfer.ts';
import type { UpstreamCalls } from '../forwarding/upstream-main.ts';
import { cpuTimes } from '../measure/cpu.ts';
import { serveRequests } from '../measure/requests.ts';
import { cores, pinnedTo } from '../processes/pinning.ts';
import { request } from '../stage/requests.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import type { Finding, RunContext } from '../workload.ts';

const mib = 1024 * 1024;
const area = '/v1/consultations';
const mePerSecond = 200;

/** W14: requests to an area, beside GET /v1/me; 1 GiB each way; streams of events beside GET /v1/me. */
export async function forwarding({ lab, sizes, setting }: RunContext): Promise<Finding> {
  const onBenchCore = { prefix: pinnedTo(cores.bench) };
  const program = new URL('../forwarding/upstream-main.ts', import.meta.url);
  await using upstream = await startPeer<UpstreamCalls>(program, onBenchCore);
  const upstreamUrl = `http://127.0.0.1:${await upstream.call('port', null)}`;
  const settings = {
    API_RATE_LIMITS: 'enterprise=100000000',
    API_UPSTREAMS: `consultations=${upstreamUrl}`,
    API_UPSTREAM_MAX_BODY: '2GiB',
    API_UPSTREAM_CONCURRENCY: '1000',
  };
  await using stage = await openBenchStage(lab, { setting, settings, worker: false });
  const client = createApiClient(stage.api);
  const { id } = await client.createOrganization();
  const { secret: key } = await client.createKey(id, { ip_allowlist: ['127.0.0.0/8'] });
  const parts = { lab, stage, sizes, key, upstreamUrl, port: Number(new URL(stage.api.url).port) };
  const small = await smallRequests(parts);
  const streamed = await streams(parts);
  const events = await eventStreams(parts);
  return {
    figures: { ...small.figures, ...streamed.figures, ...events.figures },
    problems: [...small.problems, ...streamed.problems, ...events.problems],
  };
}

interface Parts extends Pick<RunContext, 'lab' | 'sizes'> {
  stage: BenchStage;
  key: string;
  upstreamUrl: string;
  port: number;
}

/** CPU of each request: GET /v1/me, a small GET that is forwarded, and the same through bare pipes. */
async function smallRequests({ lab, stage, sizes, key, upstreamUrl, port }: Parts): Promise<Finding> {
  const { generator } = lab;
  const problems: string[] = [];
  const cost = async (path: string, to = port, cpu: () => Record<string, number> = stage.cpu) => {
    const requests = [request('GET', path, key)];
    const load = { kind: 'closed', port: to, requests, connections: 50 } as const;
    const warm = await serveRequests({ generator, cpu }, { ...load, count: sizes.warmUp }, 200);
    const measured = await serveRequests({ generator, cpu }, { ...load, count: sizes.apiRequests }, 200);
    problems.push(...warm.problems, ...measured.problems);
    return measured.figures.cpu_us ?? Number.NaN;
  };
  const me = [await cost('/v1/me')];
  const forwarded = [await cost(`${area}/c1`), await cost(`${area}/c1`)];
  me.push(await cost('/v1/me'));
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  await using got = await startPeer<ForwarderCalls>(new URL('../forwarding/forwarder-main.ts', import.meta.url));
  const gotPort = await got.call('start', { name: 'got.stream', upstream: upstreamUrl });
  const gotUs = await cost(`${area}/c1`, gotPort, () => cpuTimes({ got: got.pid }));
  const figures = {
    me_us: mean(me),
    forwarded_us: mean(forwarded),
    extra_us: mean(forwarded) - mean(me),
    got_us: gotUs,
  };
  if (findIngress('nginx') === undefined) return { figures, problems };
  const nginxPort = await freePort();
  await using nginx = await startIngress('nginx', { port: nginxPort, config: proxyPass(nginxPort, upstreamUrl) });
  const nginxUs = await cost(`${area}/c1`, nginxPort, () => cpuTimes({ nginx: nginx.process.pid }));
  return { figures: { ...figures, nginx_us: nginxUs }, problems };
}

function proxyPass(port: number, upstreamUrl: string): string {
  return `
    keepalive_requests 1000000;
    upstream service { server ${new URL(upstreamUrl).host}; keepalive 100; keepalive_requests 1000000; }
    server {
      listen 127.0.0.1:${port};
      location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }
    }
  `;
}

/** CPU of each MiB, and how much the memory of the API grows while they pass. */
async function streams({ stage, sizes, key, port }: Parts): Promise<Finding> {
  const headers = [`Authorization: Bearer ${key}`];
  const bytes = sizes.streamedMib * mib;
  const apiUs = () => stage.cpu().api ?? Number.NaN;
  const before = residentMemory(stage.api.pid).peak;
  const start = apiUs();
  await download(port, `${area}/bytes/${bytes}`, headers, bytes);
  const afterDownload = apiUs();
  await upload(port, `${area}/up`, headers, bytes);
  return {
    figures: {
      mib_down_us: (afterDownload - start) / sizes.streamedMib,
      mib_up_us: (apiUs() - afterDownload) / sizes.streamedMib,
      memory_growth: residentMemory(stage.api.pid).peak - before,
    },
    problems: [],
  };
}

/** The p99 of GET /v1/me by the clock, without streams of events and beside them. */
async function eventStreams({ lab, sizes, key, port }: Parts): Promise<Finding> {
  const p99 = async () => {
    const requests = [request('GET', '/v1/me', key)];
    const seconds = sizes.hangingSeconds;
    const load = { kind: 'open', port, requests, connections: 50, perSecond: mePerSecond, seconds } as const;
    const { dueAt, answeredAt } = await lab.generator.call('run', load);
    return quantile(
      [...answeredAt].map((at, index) => at - (dueAt[index] ?? at)),
      0.99,
    );
  };
  await p99();
  const without = await p99();
  using opened = await openStreams(port, request('GET', `${area}/events`, key), sizes.streams);
  const beside = await p99();
  const isWhole = opened.open() === sizes.streams && opened.least() > 1;
  return {
    figures: { me_p99_without: without, me_p99_beside: beside, me_p99_ratio: beside / without, streams: opened.open() },
    problems: isWhole
      ? []
      : [`${opened.open()} of ${sizes.streams} streams stayed open, with ${opened.least()} events`],
  };
}
