import { setTimeout as pause } from 'node:timers/promises';
import { startFleet } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { apiEvent, emit, post, steadily } from './load.ts';
import { openFaultStage, type Stores } from './stage.ts';

/** R7: each process in turn is asked to end and replaced, under load. */
export interface Restarts {
  rounds: number;
  eventsPerSecond: number;
  webhooks: number;
  settleWithinMs: number;
}

export async function restartInTurn(stores: Stores, size: Restarts): Promise<Finding> {
  await using stage = await openFaultStage(stores);
  const { organizationId } = await stage.subscribe(Array.from({ length: size.webhooks }, (_, n) => `/${n}`));
  stage.requests.respond(async () => {
    await pause(Math.random() * 100);
    return {};
  });
  await using apis = await startFleet(2, () => stage.startApi());
  await using workers = await startFleet(2, () => stage.startWorker());
  const statuses = new Map<number, number>();
  let accepted = 0;
  let n = 0;
  let away = -1;
  await using load = steadily(size.eventsPerSecond, async () => {
    // As a load balancer does: an instance that has been told to end gets no new requests.
    n += 1;
    const place = away === -1 ? n % 2 : 1 - away;
    const posted = await post(apis.members[place]?.internalUrl ?? '', [apiEvent(organizationId)]);
    statuses.set(posted.status, (statuses.get(posted.status) ?? 0) + 1);
    if (posted.status === 202) accepted += 1;
  });
  const codes: (number | null)[] = [];
  for (let round = 0; round < size.rounds; round++) {
    const place = Math.floor(round / 2) % 2;
    if (round % 2 === 0) codes.push((await workers.replace(place)).code);
    else {
      const ending = apis.replace(place);
      // What was on its way when the signal came is answered all the same.
      setImmediate(() => {
        away = place;
      });
      codes.push((await ending).code);
      away = -1;
    }
    await pause(200);
  }
  await emit(apis.members[0]?.internalUrl ?? '', organizationId, 100);
  await load.stop();
  codes.push(...(await workers.stop()).map((exit) => exit.code));
  const held = await notDue(stage);
  const successor = await stage.startWorker();
  const deliveries = (accepted + 100) * size.webhooks;
  await untilSettled(stage, deliveries, size.settleWithinMs);
  codes.push((await successor.stop()).code, ...(await apis.stop()).map((exit) => exit.code));
  const bad = [...statuses].filter(([status]) => status !== 202).reduce((sum, [, count]) => sum + count, 0);
  const duplicates = stage.requests.duplicates();
  return await conclude(
    stage,
    deliveries,
    { deliveries, rounds: size.rounds, 'answers other than 202': bad },
    {
      [`${duplicates} deliveries sent twice`]: duplicates === 0,
      [`answers ${JSON.stringify([...statuses])}`]: bad === 0,
      [`exits ${codes.join()}`]: codes.every((code) => code === 0),
      [`${held} deliveries not handed back`]: held === 0,
    },
  );
}

/** Pending rows that nobody may send yet, although all workers have ended. */
async function notDue({ db }: Awaited<ReturnType<typeof openFaultStage>>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from deliveries where status = 'pending' and next_attempt_at > now()`.execute(db);
  return rows[0]?.count ?? 0;
}
