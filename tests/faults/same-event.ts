import { conclude, type Finding, untilSettled } from './finding.ts';
import { apiEvent, post } from './load.ts';
import { openFaultStage, type Stores } from './stage.ts';

/** R15: one event, emitted by many at once. */
export interface SameEvent {
  events: number;
  /** Emissions of each, in parallel, over two APIs. */
  times: number;
  webhooks: number;
}

export async function emitTheSame(stores: Stores, size: SameEvent): Promise<Finding> {
  await using stage = await openFaultStage(stores);
  const { organizationId } = await stage.subscribe(Array.from({ length: size.webhooks }, (_, n) => `/${n}`));
  await stage.subscribe(['/other-organization']);
  const apis = [await stage.startApi(), await stage.startApi()];
  const workers = [await stage.startWorker(), await stage.startWorker()];
  const broken: Record<string, boolean> = {};
  for (let n = 0; n < size.events; n++) {
    const answers = await Promise.all(
      Array.from({ length: size.times }, (_, time) =>
        post(apis[time % 2]?.internalUrl ?? '', [apiEvent(organizationId, `same-${n}`)]),
      ),
    );
    const refused = answers.filter((answer) => answer.status !== 202).length;
    const ids = new Set(answers.flatMap((answer) => answer.events.map((event) => event.id)));
    const first = answers.filter((answer) => answer.events[0]?.duplicate === false).length;
    broken[`event ${n}: ${refused} refused, ${ids.size} ids, ${first} first`] =
      refused === 0 && ids.size === 1 && first === 1;
  }
  const deliveries = size.events * size.webhooks;
  await untilSettled(stage, deliveries, 30_000);
  await Promise.all([...workers, ...apis].map((service) => service.stop()));
  return await conclude(
    stage,
    deliveries,
    { emissions: size.events * size.times, events: size.events, deliveries },
    { ...broken, [`${stage.requests.duplicates()} deliveries sent twice`]: stage.requests.duplicates() === 0 },
  );
}
