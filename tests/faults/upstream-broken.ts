import { setTimeout as pause } from 'node:timers/promises';
import {
  createApiClient,
  quantile,
  residentMemory,
  type ServiceProcess,
  steadily,
  until,
} from '@enterprise-api/testkit';
import type { Finding } from './finding.ts';
import { openFaultStage, type Stores } from './stage.ts';
import { type Conduct, type Exchanged, exchange, type FaultyUpstream, startFaultyUpstream } from './upstreams.ts';

/** R17: an internal service that is away, hangs or resets must not slow down other areas, nor the API's own routes. */
export interface BrokenUpstream {
  /** Of each kind of request. */
  perSecond: number;
  /** With each conduct of the service. */
  measuredMs: number;
  upstreamTimeout: string;
  /** The promise is 2. A short run on a busy machine has more noise, and is allowed more. */
  allowedRatio: number;
  /** A p99 up to this is no delay by the broken service. */
  negligibleMs: number;
}

const conducts: readonly Conduct[] = ['is away', 'hangs', 'resets'];
const maxGrowthMb = 64;

export async function breakUpstream(stores: Stores, size: BrokenUpstream): Promise<Finding> {
  await using faulty = await startFaultyUpstream((request, response) => request.resume().pipe(response));
  await using healthy = await startFaultyUpstream((request, response) => request.resume().pipe(response));
  await using stage = await openFaultStage(stores, {
    API_UPSTREAMS: `consultations=${faulty.url},batches=${healthy.url}`,
    API_UPSTREAM_TIMEOUT: size.upstreamTimeout,
    API_RATE_LIMITS: 'enterprise=100000000',
  });
  const api = await stage.startApi();
  const client = createApiClient(api);
  const { id } = await client.createOrganization();
  const { secret: key } = await client.createKey(id);
  const phase = (conduct: Conduct) => measure({ api, key, faulty }, size, conduct);
  await phase('answers');
  const phases = [await phase('answers')];
  const memoryBefore = residentMemory(api.pid).now;
  // What a p99 is compared with is measured before and after: other programs come and go on the machine.
  for (const conduct of conducts) {
    const usual = phases.at(-1)?.p99;
    const isLate = ({ p99, givenUp }: Phase) =>
      givenUp.length > 0 || (usual !== undefined && slowPaths(size, p99, usual).length > 0);
    phases.push(await leastLate(() => phase(conduct), isLate), await phase('answers'));
  }
  const growthMb = (residentMemory(api.pid).now - memoryBefore) / 1_048_576 || 0;
  await faulty.conduct('answers');
  const again = () => exchange('GET', `${api.url}/v1/consultations/c1`, key);
  await until('the area is served again', again, { holds: ({ status }) => status === 200 });
  return judge(size, phases, Math.round(growthMb));
}

/** What the broken service has nothing to do with. */
const paths = ['/v1/batches', '/v1/webhooks'] as const;

type Path = (typeof paths)[number];

interface Phase {
  conduct: Conduct;
  p99: Record<Path, number>;
  /** Requests that the broken service has nothing to do with, and that the API gave up after a time limit. */
  givenUp: readonly string[];
  /** Those that failed otherwise. */
  failed: readonly string[];
  /** Answers to requests of the broken area. */
  statuses: ReadonlySet<number>;
}

async function measure(
  { api, key, faulty }: { api: ServiceProcess; key: string; faulty: FaultyUpstream },
  { perSecond, measuredMs }: BrokenUpstream,
  conduct: Conduct,
): Promise<Phase> {
  await faulty.conduct(conduct);
  const answers = new Map<string, Exchanged[]>();
  const send = (path: string) => async () => {
    const answer = await exchange('GET', api.url + path, key);
    answers.set(path, [...(answers.get(path) ?? []), answer]);
  };
  const loads = ['/v1/consultations', ...paths].map((path) => steadily(perSecond, send(path)));
  await pause(measuredMs);
  await Promise.all(loads.map((load) => load.stop()));
  const of = (path: string) => answers.get(path) ?? [];
  const p99 = (path: string) =>
    Math.round(
      quantile(
        of(path).map(({ ms }) => ms),
        0.99,
      ),
    );
  const answered = (path: string, holds: (status: number) => boolean) =>
    of(path).flatMap(({ status }) => (holds(status) ? [`${path} ${status}`] : []));
  return {
    conduct,
    p99: { '/v1/batches': p99('/v1/batches'), '/v1/webhooks': p99('/v1/webhooks') },
    givenUp: paths.flatMap((path) => answered(path, isGivenUp)),
    failed: paths.flatMap((path) => answered(path, (status) => status !== 200 && !isGivenUp(status))),
    statuses: new Set(of('/v1/consultations').map(({ status }) => status)),
  };
}

/** The API answers so when the database or a service takes too long. */
const isGivenUp = (status: number) => status === 503 || status === 504;

/**
 * A machine that stalls spoils one measurement, a broken service all three: of what takes too long, the least counts.
 * Other failures, and the answers in the broken area, count in each.
 */
async function leastLate(measured: () => Promise<Phase>, isLate: (phase: Phase) => boolean): Promise<Phase> {
  let best = await measured();
  for (let nth = 2; nth <= 3 && isLate(best); nth++) {
    const { p99, givenUp, failed, statuses } = await measured();
    const least = (path: Path) => Math.min(best.p99[path], p99[path]);
    best = {
      conduct: best.conduct,
      p99: { '/v1/batches': least('/v1/batches'), '/v1/webhooks': least('/v1/webhooks') },
      givenUp: givenUp.length < best.givenUp.length ? givenUp : best.givenUp,
      failed: [...best.failed, ...failed],
      statuses: new Set([...best.statuses, ...statuses]),
    };
  }
  return best;
}

/** Those that take longer than they usually do. */
function slowPaths(size: BrokenUpstream, p99: Phase['p99'], usual: Phase['p99']): Path[] {
  return paths.filter((path) => p99[path] > size.negligibleMs && p99[path] > usual[path] * size.allowedRatio);
}

/** What a client of the broken area is told; 429 once too many of its requests hang. */
const told: Record<Conduct, readonly number[]> = {
  answers: [200],
  'is away': [502],
  hangs: [504, 429],
  resets: [502],
};

function judge(size: BrokenUpstream, phases: readonly Phase[], growthMb: number): Finding {
  const broken = phases.flatMap(({ conduct, p99, givenUp, failed, statuses }, index) => {
    if (conduct === 'answers') return [];
    const controls = [phases[index - 1], phases[index + 1]].filter((control) => control?.conduct === 'answers');
    const most = (path: Path) => Math.max(...controls.map((control) => control?.p99[path] ?? 0));
    const usual = { '/v1/batches': most('/v1/batches'), '/v1/webhooks': most('/v1/webhooks') };
    const slower = slowPaths(size, p99, usual);
    const wrong = [...statuses].filter((status) => !told[conduct].includes(status));
    return [
      ...slower.map((path) => `p99 of ${path} is ${p99[path]} ms, not ${usual[path]}, while the service ${conduct}`),
      ...[...givenUp, ...failed].map((request) => `${request} while the service ${conduct}`),
      ...wrong.map((status) => `an answer ${status} while the service ${conduct}`),
    ];
  });
  const shown = phases.map(({ conduct, p99 }) => `${conduct} ${p99['/v1/batches']}, ${p99['/v1/webhooks']}`);
  return {
    lost: phases.reduce(
      (sum, { conduct, givenUp, failed }) => sum + (conduct === 'answers' ? 0 : givenUp.length + failed.length),
      0,
    ),
    duplicates: 0,
    figures: { 'p99 of another area, of /v1/webhooks (ms)': shown.join('; '), 'memory growth (MB)': growthMb },
    broken: growthMb <= maxGrowthMb ? broken : [...broken, `the API has grown by ${growthMb} MB`],
  };
}
