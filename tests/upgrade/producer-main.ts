import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EmitEventInput } from '@enterprise-api/shared/contracts';
import { answerCalls } from '@enterprise-api/testkit/peer-calls';

/** An internal service that emits with the shared package of one version. */
type Shared = typeof import('@enterprise-api/shared/events') & typeof import('@enterprise-api/shared/ledger');

interface Place {
  /** The folder of the version. */
  project: string;
  databaseUrl: string;
  redisUrl: string | undefined;
}

let emitters: Record<'transaction' | 'queue', (event: EmitEventInput) => Promise<unknown>>;

const calls = {
  open: async ({ project, databaseUrl, redisUrl }: Place): Promise<void> => {
    const { createDatabase, createEventProducer } = await sharedPackageOf(project);
    const db = createDatabase({ url: databaseUrl, applicationName: 'producer', poolSize: 2 });
    const producer = createEventProducer({ databaseUrl, redisUrl, onError: () => undefined });
    emitters = {
      transaction: (event) => producer.transaction(db, (_trx, emit) => emit(event)),
      queue: (event) => producer.enqueue(event),
    };
  },
  /** Resolves when the event is accepted. */
  emit: async ({ by, event }: { by: keyof typeof emitters; event: EmitEventInput }): Promise<void> => {
    await emitters[by](event);
  },
};

export type ProducerCalls = typeof calls;

answerCalls(calls);

async function sharedPackageOf(project: string): Promise<Shared> {
  const { resolve } = createRequire(join(project, 'package.json'));
  const load = (name: string) => import(pathToFileURL(resolve(`@enterprise-api/shared/${name}`)).href);
  return { ...(await load('events')), ...(await load('ledger')) };
}
