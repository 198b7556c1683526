import { toPublicId } from '@enterprise-api/shared/runtime';
import { queueBackends, readMetric, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openTestStage, type TestStage } from './stage.ts';

const backend = queueBackends().find(({ name }) => name === 'postgres') ?? queueBackends()[0];
let stage: TestStage;

beforeAll(async () => {
  if (backend === undefined) throw new Error('There is no queue backend.');
  stage = await openTestStage(backend);
});
afterAll(() => stage.close());

it('an event whose deliveries the database refuses is parked, others go, and it is delivered once the cause is gone', async () => {
  const { db, producer } = stage;
  const { organizationId } = await stage.subscribe();
  await sql`alter table deliveries add constraint no_batches check (event_type not like 'batch.%')`.execute(db);
  const emit = async (type: 'batch.failed' | 'consultation.completed') => {
    const data = type === 'batch.failed' ? { batch_id: 'b' } : { consultation_id: 'c' };
    const [event] = await producer.emit([{ organization_id: toPublicId('org', organizationId), type, data }]);
    return toPublicId('evt', event?.id ?? '');
  };
  const refused = await emit('batch.failed');
  await Promise.all(Array.from({ length: 9 }, () => emit('consultation.completed')));
  const worker = await stage.startWorker();
  const delivered = (count: number) =>
    stage.untilDeliveries(organizationId, (rows) => rows.filter((row) => row.status === 'succeeded').length === count);
  await delivered(9);

  const isLogged = () => worker.logs().find(({ msg }) => msg === 'event parked: the database refuses its deliveries');
  const line = await until('the log line', isLogged);
  expect(line).toMatchObject({ event_id: refused, reason: '23514 no_batches', failures: 1 });
  await until('the gauge', () => readMetric(worker.url, 'ledger_parked_events'), { holds: (count) => count === 1 });
  await worker.stop();

  await sql`alter table deliveries drop constraint no_batches`.execute(db);
  await sql`update parked_events set retry_at = clock_timestamp()`.execute(db);
  await stage.startWorker();
  await delivered(10);
  expect(await db.selectFrom('parked_events').selectAll().execute()).toEqual([]);
});
