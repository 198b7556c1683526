import { setTimeout as pause } from 'node:timers/promises';
import { type Fleet, startFleet, steadily } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { apiEvent, emit, post } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** R7: each process in turn is asked to end and replaced, under load. */
export interface Restarts {
  rounds: number;
  eventsPerSecond: number;
  webhooks: number;
  settleWithinMs: number;
}

/** Emitted when the last round is over, so that the workers stop with deliveries waiting. */
const lastEvents = 100;

export async function restartInTurn(stores: Stores, size: Restarts): Promise<Finding> {
  await using stage = await openFaultStage(stores);
  const { organizationId } = await stage.subscribe(Array.from({ length: size.webhooks }, (_, n) => `/${n}`));
  stage.requests.respond(() => pause(Math.random() * 100, {}));
  await using apis = await startFleet(2, () => stage.startApi());
  await using workers = await startFleet(2, () => stage.startWorker());
  const clients = new BalancedClients(apis, organizationId);
  await using load = steadily(size.eventsPerSecond, () => clients.emit());
  const codes: (number | null)[] = [];
  for (let round = 0; round < size.rounds; round++) {
    const place = Math.floor(round / 2) % 2;
    const exit = round % 2 === 0 ? await workers.replace(place) : await clients.whileAway(place, apis.replace(place));
    codes.push(exit.code);
    await pause(200);
  }
  await emit(apis.members[0]?.internalUrl ?? '', organizationId, lastEvents);
  await load.stop();
  codes.push(...(await workers.stop()).map((exit) => exit.code));
  const notReleased = await countNotDue(stage);
  const successor = await stage.startWorker();
  const deliveries = (clients.accepted + lastEvents) * size.webhooks;
  await untilSettled(stage, deliveries, size.settleWithinMs);
  codes.push((await successor.stop()).code, ...(await apis.stop()).map((exit) => exit.code));
  const duplicates = stage.requests.duplicates();
  const figures = { deliveries, rounds: size.rounds, 'answers other than 202': clients.refused };
  return await conclude(stage, deliveries, figures, {
    [`${duplicates} deliveries sent twice`]: duplicates === 0,
    [`answers ${JSON.stringify([...clients.statuses])}`]: clients.refused === 0,
    [`exits ${codes.join()}`]: codes.every((code) => code === 0),
    [`${notReleased} deliveries not released`]: notReleased === 0,
  });
}

/** Clients behind a load balancer: an instance that has been told to end gets no new requests. */
class BalancedClients {
  readonly statuses = new Map<number, number>();
  readonly #apis: Fleet;
  readonly #organizationId: string;
  #count = 0;
  #away: number | undefined;

  constructor(apis: Fleet, organizationId: string) {
    this.#apis = apis;
    this.#organizationId = organizationId;
  }

  get accepted(): number {
    return this.statuses.get(202) ?? 0;
  }

  get refused(): number {
    return [...this.statuses.values()].reduce((sum, count) => sum + count, 0) - this.accepted;
  }

  async emit(): Promise<void> {
    this.#count += 1;
    const place = this.#away === undefined ? this.#count % 2 : 1 - this.#away;
    const { status } = await post(this.#apis.members[place]?.internalUrl ?? '', [apiEvent(this.#organizationId)]);
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  /** Sends nothing new to a place until its replacement is there. Requests already on their way must be answered. */
  async whileAway<Exit>(place: number, replaced: Promise<Exit>): Promise<Exit> {
    this.#away = place;
    const exit = await replaced;
    this.#away = undefined;
    return exit;
  }
}

/** Pending rows that no worker may send yet, although all workers have ended. */
async function countNotDue({ db }: FaultStage): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from pending_deliveries where next_attempt_at > now()`.execute(db);
  return rows[0]?.count ?? 0;
}
