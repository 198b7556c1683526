import { migrate } from '@enterprise-api/shared/ledger';
import {
  checkOutVersion,
  type EarlierVersion,
  projectFolder,
  queueBackends,
  requireToolchain,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readByBoth, repeatByBoth } from './reading.ts';
import { openRollout, type Rollout, type RunningApi } from './rollout.ts';
import type { Version } from './versions.ts';

const current: Version = { folder: projectFolder, isEarlier: false };
let files: EarlierVersion;
let earlier: Version;

beforeAll(() => {
  files = checkOutVersion(requireToolchain('release'));
  earlier = { folder: files.folder, isEarlier: true };
}, 600_000);
afterAll(() => files[Symbol.dispose]());

describe.each(queueBackends())('an upgrade from the released version, queued on $name', ({ start }) => {
  it('loses nothing under load, with each pair of versions by itself, and back again', async () => {
    await using resources = new AsyncDisposableStack();
    const { redisUrl } = resources.adopt(await start(), ({ close }) => close());
    await using rollout = await openRollout(redisUrl, earlier);
    const differing: string[] = [];
    const upgraded = await upgrade(rollout, differing);
    await goBack(rollout, upgraded);
    const { broken, figures } = await rollout.conclude(differing);
    expect({ broken, figures }).toMatchObject({ broken: [] });
  }, 600_000);
});

/** The recommended order: the ledger, the workers, the APIs, and the internal services whenever their owners want. */
async function upgrade(rollout: Rollout, differing: string[]) {
  const { stage, load, phase, first } = rollout;
  const producer = await rollout.startProducer(earlier);
  await load.emitBy(first.api.emit, ...producer.emits);
  await phase('the earlier version on its own ledger');
  await migrate(stage.databaseUrl);
  await phase('the earlier version on the new ledger');
  const worker = await rollout.startWorker(current);
  await phase('workers of both versions');
  await rollout.stop(first.worker);
  await phase('the earlier API before new workers');
  const api = await rollout.startApi(current);
  const newProducer = await rollout.startProducer(current);
  await load.emitBy(first.api.emit, api.emit, ...producer.emits, ...newProducer.emits);
  await phase('APIs and producers of both versions');
  await rollout.rest();
  differing.push(
    ...(await readByBoth(first.api.client, api.client)),
    ...(await repeatByBoth(first.api.client, api.client, stage.url('/repeated'))),
  );
  // Each version knows the ids that the other one has accepted: more deliveries than events call for are counted at the end.
  await load.emitAgain(first.api.emit, api.emit, ...producer.emits, ...newProducer.emits);
  await load.emitBy(api.emit, ...producer.emits, ...newProducer.emits);
  await rollout.stop(first.api.service);
  await phase('the new version alone');
  return { api, worker, producers: [producer, newProducer] };
}

/** Back to the earlier services, on the ledger as it is; the other way round, so that each pair of versions was there. */
async function goBack(
  { load, phase, startApi, startWorker, stop }: Rollout,
  upgraded: Awaited<ReturnType<typeof upgrade>>,
): Promise<void> {
  const emits = upgraded.producers.flatMap((producer) => producer.emits);
  await startWorker(earlier);
  await stop(upgraded.worker);
  await phase('new APIs and producers before earlier workers');
  const api: RunningApi = await startApi(earlier);
  await load.emitBy(api.emit, ...emits);
  await stop(upgraded.api.service);
  await phase('the earlier version alone, on the new ledger, with producers of both');
}
