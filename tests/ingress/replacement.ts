import { type IngressName, inParallel, until } from '@enterprise-api/testkit';
import { Pool } from 'undici';
import { type IngressStage, openIngressStage } from './stage.ts';

/** What came of requests while the processes of the API were replaced. */
export interface Replacement {
  sent: number;
  /** Requests that got another answer than that of the service, in words. */
  failures: string[];
  /** Requests that the service has seen more than once. */
  repeated: number;
  /** Requests of which the service has seen nothing. */
  missing: number;
  /** Of the processes that were replaced. */
  exitCodes: (number | null)[];
}

/**
 * Sends requests through an ingress before two processes of the API, and replaces both by SIGTERM, one after the other.
 * Half of the requests are writes, which nothing in between may send twice.
 *
 * @param atLeast how many requests; more when the replacements take longer
 */
export async function replaceBehindIngress(name: IngressName, atLeast: number): Promise<Replacement> {
  await using stage = await openIngressStage(name, { apis: 2 });
  const { id } = await stage.client.createOrganization();
  const { secret } = await stage.client.createKey(id);
  const sender = createSender(stage, secret);
  try {
    let isReplaced = false;
    const replaced = replaceBoth(stage, atLeast / 10).finally(() => {
      isReplaced = true;
    });
    const goesOn = (index: number) => index < atLeast || !isReplaced;
    await Promise.all([replaced, inParallel(numbersWhile(goesOn), 16, sender.send)]);
  } finally {
    await sender.close();
  }
  // Whatever else reached the service's port is no request of this run.
  const served = stage.upstream.requests.map(({ path }) => path).filter((path) => /\/c\d+$/.test(path));
  const distinct = new Set(served);
  return {
    sent: sender.count(),
    failures: sender.failures,
    repeated: served.length - distinct.size,
    missing: sender.count() - distinct.size,
    exitCodes: stage.apis.exits.map(({ code }) => code),
  };
}

async function replaceBoth({ apis, upstream }: IngressStage, after: number): Promise<void> {
  await until(`${after} requests are through`, () => upstream.requests.length > after, { withinMs: 60_000 });
  await apis.replace(0);
  await apis.replace(1);
}

function* numbersWhile(goesOn: (index: number) => boolean): Generator<number> {
  for (let index = 0; goesOn(index); index++) yield index;
}

function createSender({ front }: IngressStage, key: string) {
  const options = { connections: 16, connect: { ca: front.ca }, headersTimeout: 30_000, bodyTimeout: 30_000 };
  const pool = new Pool(`https://127.0.0.1:${front.port}`, options);
  const failures: string[] = [];
  let sent = 0;
  const send = async (index: number) => {
    sent++;
    const isWrite = index % 2 === 1;
    const path = `/v1/consultations/c${index}`;
    const headers = { authorization: `Bearer ${key}` };
    try {
      const request = { method: isWrite ? 'POST' : 'GET', path, headers, body: isWrite ? '{}' : null };
      const answer = await pool.request(request as Parameters<Pool['request']>[0]);
      const text = await answer.body.text();
      if (answer.statusCode !== 200) failures.push(`${path}: ${answer.statusCode} ${text}`);
    } catch (error) {
      failures.push(`${path}: ${String(error)}`);
    }
  };
  return { failures, send, count: () => sent, close: () => pool.destroy() };
}
