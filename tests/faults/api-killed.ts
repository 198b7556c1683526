import { setTimeout as pause } from 'node:timers/promises';
import { startFleet } from '@enterprise-api/testkit';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { apiEvent, inParallel, post } from './load.ts';
import { openFaultStage, type Stores } from './stage.ts';

/** R2: APIs are killed with -9 while their clients write. */
export interface ApiKills {
  kills: number;
  writes: number;
  clients: number;
  settleWithinMs: number;
}

/**
 * Every write has an id of its caller. Whoever gets no answer tries again with the same id, except for every third
 * client, who gives up: such a write exists or not, and must be delivered or not accordingly.
 */
export async function killApis(stores: Stores, size: ApiKills): Promise<Finding> {
  await using stage = await openFaultStage(stores);
  const { organizationId } = await stage.subscribe(['/hook']);
  const worker = await stage.startWorker();
  await using fleet = await startFleet(2, () => stage.startApi());
  const acknowledged = new Map<string, string>();
  let unanswered = 0;
  let finished = 0;
  let begun = 0;
  // Writes come in portions, one more than kills; each kill falls into the middle of one, and opens the next.
  const portion = size.writes / (size.kills + 1);
  const write = async (n: number): Promise<void> => {
    const key = `write-${n}`;
    await until(() => begun >= Math.floor(n / portion));
    for (let attempt = n; ; attempt++) {
      const api = fleet.members[attempt % 2];
      const posted = api && (await post(api.internalUrl, [apiEvent(organizationId, key)]));
      if (posted?.status === 202) acknowledged.set(key, posted.events[0]?.id ?? '');
      else unanswered += 1;
      if (posted?.status === 202 || n % 3 === 0) break;
    }
    finished += 1;
  };
  const killing = (async () => {
    for (let kill = 0; kill < size.kills; kill++) {
      await until(() => finished >= portion * (kill + 0.5));
      const successor = fleet.crash(kill % 2);
      begun += 1;
      await successor;
    }
  })();
  await inParallel(
    Array.from({ length: size.writes }, (_, n) => n),
    size.clients,
    write,
  );
  await killing;
  const written = await stage.db.selectFrom('event_keys').select(['key', 'event_id']).execute();
  const events = await stage.db.selectFrom('events').select('id').execute();
  await untilSettled(stage, events.length, size.settleWithinMs);
  await Promise.all([fleet.stop(), worker.stop()]);
  const keys = new Set(written.map((row) => row.key));
  const missing = [...acknowledged.keys()].filter((key) => !keys.has(key)).length;
  const ids = new Set(written.map((row) => row.event_id));
  const duplicates = stage.requests.duplicates();
  return await conclude(
    stage,
    events.length,
    {
      writes: size.writes,
      kills: fleet.kills.length,
      acknowledged: acknowledged.size,
      'without an answer': unanswered,
    },
    {
      [`${fleet.kills.length} kills of ${size.kills}`]: fleet.kills.length === size.kills,
      [`${missing} acknowledged writes without an event`]: missing === 0,
      [`${events.length} events of ${written.length} writes`]:
        events.length === written.length && events.every((event) => ids.has(event.id)),
      [`${duplicates} deliveries sent twice`]: duplicates === 0,
    },
  );
}

/** Looks every few milliseconds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(3);
}
