import type { EmitEventInput } from '@enterprise-api/shared/contracts';
import { createEventProducer, type EventProducer, UnknownOrganizationError } from '@enterprise-api/shared/events';
import { version } from '@enterprise-api/shared/runtime';
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
const nobody = 'org_01jd6kz5r8e2v9qxm3c7t4b0na';

const own = new Kysely<OwnTables>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) });
const outcomes: string[] = [];
const producer: EventProducer = createEventProducer({
  databaseUrl: url,
  onError: (error) => void process.stderr.write(`${error.message}\n`),
  onNotified: (outcome, events) => outcomes.push(`${outcome} ${events}`),
});

const ended = (id: string): EmitEventInput => ({
  organization_id,
  type: 'consultation.completed',
  data: { consultation_id: id },
});

// In a transaction that the program opens and commits by itself.
const trx = await own.startTransaction().execute();
await trx.insertInto('consultations').values({ id: 'con_committed' }).execute();
const { events, notify } = await producer.emit(trx, ended('con_committed'), { requestId: 'req_consumer' });
await trx.commit().execute();
await notify();

// In a transaction that the producer commits or rolls back.
const failure = await producer
  .transaction(own, async (transaction, emit) => {
    await transaction.insertInto('consultations').values({ id: 'con_rolled_back' }).execute();
    await emit(ended('con_rolled_back'));
    throw new Error('rolled back');
  })
  .catch((error: unknown) => String(error));

const unknown = await producer
  .transaction(own, (_transaction, emit) => emit({ ...ended('con_of_nobody'), organization_id: nobody }))
  .catch((error: unknown) => (error instanceof UnknownOrganizationError ? error.organizationIds : String(error)));

const queued: string = await producer.enqueue({
  organization_id,
  type: 'batch.completed',
  data: { batch_id: 'bat_queued' },
});

await Promise.all([producer.close(), own.destroy()]);
const committed = events.map((event) => event.id);
process.stdout.write(`${JSON.stringify({ version, committed, failure, unknown, queued, outcomes })}\n`);
