import { type Fleet, inParallel, startFleet, storedKey, until } from '@enterprise-api/testkit';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { apiEvent, post } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** R2: APIs are killed with -9 while their clients write. */
export interface ApiKills {
  kills: number;
  writes: number;
  clients: number;
  settleWithinMs: number;
}

export async function killApis(stores: Stores, size: ApiKills): Promise<Finding> {
  await using stage = await openFaultStage(stores);
  const { organizationId } = await stage.subscribe(['/hook']);
  const worker = await stage.startWorker();
  await using fleet = await startFleet(2, () => stage.startApi());
  const writes = new Writes(fleet, organizationId, size);
  const killing = killInTurn(fleet, writes, size);
  await inParallel(Array.from({ length: size.writes }).keys(), size.clients, (n) => writes.write(n));
  await killing;
  const written = await stage.db.selectFrom('event_keys').select(['key', 'event_id']).execute();
  const events = await stage.db.selectFrom('events').select('id').execute();
  await untilSettled(stage, events.length, size.settleWithinMs);
  await Promise.all([fleet.stop(), worker.stop()]);
  const keys = new Set(written.map((row) => row.key));
  const ids = new Set(written.map((row) => row.event_id));
  return await report(stage, size, {
    writes,
    kills: fleet.kills.length,
    events: events.length,
    written: written.length,
    missing: [...writes.acknowledged].filter((key) => !keys.has(storedKey(organizationId, key))).length,
    areEventsOfWrites: events.length === written.length && events.every((event) => ids.has(event.id)),
  });
}

/**
 * Every write has an id of its caller. A client that gets no answer tries again with the same id. Every third client
 * does not: its event either exists and is delivered, or does not exist.
 */
class Writes {
  readonly acknowledged = new Set<string>();
  unanswered = 0;
  finished = 0;
  /** Kills that have begun: each opens the next portion of writes. */
  begunKills = 0;
  readonly portion: number;
  readonly #fleet: Fleet;
  readonly #organizationId: string;

  constructor(fleet: Fleet, organizationId: string, { writes, kills }: ApiKills) {
    this.#fleet = fleet;
    this.#organizationId = organizationId;
    this.portion = writes / (kills + 1);
  }

  async write(n: number): Promise<void> {
    const key = `write-${n}`;
    const isOpen = () => this.begunKills >= Math.floor(n / this.portion);
    await until(`the portion of write ${n}`, isOpen, { withinMs: 300_000, everyMs: 3 });
    for (let attempt = n; ; attempt++) {
      const api = this.#fleet.members[attempt % 2];
      const posted = api && (await post(api.internalUrl, [apiEvent(this.#organizationId, key)]));
      if (posted?.status === 202) this.acknowledged.add(key);
      else this.unanswered += 1;
      if (posted?.status === 202 || n % 3 === 0) break;
    }
    this.finished += 1;
  }
}

/** Each kill falls into the middle of a portion of writes. */
async function killInTurn(fleet: Fleet, writes: Writes, { kills }: ApiKills): Promise<void> {
  for (let kill = 0; kill < kills; kill++) {
    const isMiddle = () => writes.finished >= writes.portion * (kill + 0.5);
    await until(`the moment of kill ${kill}`, isMiddle, { withinMs: 300_000, everyMs: 3 });
    const successor = fleet.crash(kill % 2);
    writes.begunKills += 1;
    await successor;
  }
}

interface Result {
  writes: Writes;
  kills: number;
  events: number;
  written: number;
  missing: number;
  areEventsOfWrites: boolean;
}

async function report(
  stage: FaultStage,
  size: ApiKills,
  { writes, kills, events, ...result }: Result,
): Promise<Finding> {
  const duplicates = stage.requests.duplicates();
  const figures = {
    writes: size.writes,
    kills,
    acknowledged: writes.acknowledged.size,
    'without an answer': writes.unanswered,
  };
  return await conclude(stage, events, figures, {
    [`${kills} kills of ${size.kills}`]: kills === size.kills,
    [`${result.missing} acknowledged writes without an event`]: result.missing === 0,
    [`${events} events of ${result.written} writes`]: result.areEventsOfWrites,
    [`${duplicates} deliveries sent twice`]: duplicates === 0,
  });
}
