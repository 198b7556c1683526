import type { EmitEventInput } from '@enterprise-api/shared/contracts';
import { createEventProducer, createNotifier, createQueueOnlyProducer } from '@enterprise-api/shared/events';
import { createDatabase } from '@enterprise-api/shared/ledger';
import { createJobProducer, type QueueBackend } from '@enterprise-api/shared/queue';
import { systemClock, version } from '@enterprise-api/shared/runtime';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

// An internal producer outside this workspace: the test installs the package in an empty folder, compiles this program
// against its types and runs it there. It has tables of its own in the ledger's database.
interface OwnTables {
  consultations: { id: string };
}

// @ts-expect-error The catalogue has no such type: were the package's types not found, this would compile.
export const unknownType: EmitEventInput['type'] = 'consultation.paused';

const { DATABASE_URL: url = '', ORGANIZATION_ID: organization_id = '' } = process.env;
const onError = (error: Error) => void process.stderr.write(`${error.message}\n`);

const own = new Kysely<OwnTables>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) });
const ledger = createDatabase({ url, applicationName: 'consumer', poolSize: 2, onError });
const backend: QueueBackend = { kind: 'postgres', url };
const wakeUps = createJobProducer(backend, 'fanOut', onError);
const wholeEvents = createJobProducer(backend, 'writeEvent', onError);
const outcomes: string[] = [];
const notifier = createNotifier({
  producer: wakeUps,
  clock: systemClock,
  onOutcome: (outcome, events) => outcomes.push(`${outcome} ${events}`),
});
const producer = createEventProducer({ db: ledger, notifier });

const finish = (id: string, commit: boolean) =>
  producer.transaction(own, async (trx, emit) => {
    await trx.insertInto('consultations').values({ id }).execute();
    const written = await emit({ organization_id, type: 'consultation.completed', data: { consultation_id: id } });
    if (!commit) throw new Error('rolled back');
    return written.map((event) => event.id);
  });

const committed: string[] = await finish('con_committed', true);
const failure = await finish('con_rolled_back', false).catch((error: unknown) => String(error));
const queued: string = await createQueueOnlyProducer(wholeEvents).emit({
  organization_id,
  type: 'batch.completed',
  data: { batch_id: 'bat_queued' },
});

await Promise.all([wakeUps.close(), wholeEvents.close(), ledger.destroy(), own.destroy()]);
process.stdout.write(`${JSON.stringify({ version, committed, failure, queued, outcomes })}\n`);
