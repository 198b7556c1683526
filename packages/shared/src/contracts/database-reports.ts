import { z } from 'zod';
import { exampleId, publicIdSchema, timestampSchema } from './primitives.ts';

const at = '2026-11-21T07:00:00.000Z';
const gib = 1_024 ** 3;
const secondsSchema = z.number().nullable();

const sessionExample = {
  pid: 4711,
  application: 'enterprise-api-webhook-worker',
  state: 'active',
  waits_for: 'Lock:transactionid',
  blocked_by: [4712],
  transaction_seconds: 2,
  statement_seconds: 1,
  statement: 'update deliveries set status = $1 where id = $2',
};

const databaseSessionSchema = z
  .strictObject({
    pid: z.int().describe('The process id on the server, for `pg_cancel_backend` and `pg_terminate_backend`.'),
    application: z.string().describe('The application name of the connection. Ours begin with `enterprise-api`.'),
    state: z.string().nullable().describe('The state of the session, such as `active` or `idle in transaction`.'),
    waits_for: z.string().nullable().describe('The type and the name of the wait event; null while the session runs.'),
    blocked_by: z.array(z.int()).describe('The sessions that hold the lock. 0 is a prepared transaction.'),
    transaction_seconds: secondsSchema.describe('The age of the transaction.'),
    statement_seconds: secondsSchema.describe('The time since the latest statement began.'),
    statement: z
      .string()
      .nullable()
      .describe('The latest statement, without literals; null for sessions of other programs.'),
  })
  .meta({ id: 'DatabaseSession', description: 'A session of the database.', examples: [sessionExample] });

export const databaseLocksSchema = z
  .strictObject({
    object: z.literal('database_locks'),
    at: timestampSchema.describe('When the database was asked.'),
    sessions: z
      .array(databaseSessionSchema)
      .describe('Sessions that wait for a lock, that block others, or whose transaction is older than a minute.'),
  })
  .meta({
    id: 'DatabaseLocks',
    description: 'Sessions of the database that wait for locks or hold them for long.',
    examples: [{ object: 'database_locks', at, sessions: [sessionExample] }],
  });
export type DatabaseLocks = z.infer<typeof databaseLocksSchema>;
export type DatabaseSession = DatabaseLocks['sessions'][number];

const slowestExample = {
  statement: 'select id from webhooks where organization_id = $1',
  calls: 1_000,
  total_ms: 1_000,
  mean_ms: 1,
  rows: 1_000,
  disk_blocks: 0,
};

export const databaseStatementsSchema = z
  .strictObject({
    object: z.literal('database_statements'),
    at: timestampSchema.describe('When the database was asked.'),
    max_connections: z.int().describe('How many connections the server allows.'),
    connections: z
      .array(
        z.strictObject({
          application: z.string().describe('The application name of the connections.'),
          state: z.string().nullable().describe('Their state, such as `idle` or `active`.'),
          count: z.int().describe('How many connections have this name and state.'),
        }),
      )
      .describe('The connections to this database.'),
    running: z.array(databaseSessionSchema).describe('Our sessions with an open transaction, the oldest first.'),
    slowest: z
      .array(
        z.strictObject({
          statement: z.string().describe('The statement, without literals.'),
          calls: z.int().describe('How often it ran.'),
          total_ms: z.number().describe('The total time of its runs.'),
          mean_ms: z.number().describe('The average time of a run.'),
          rows: z.int().describe('How many rows it returned or changed.'),
          disk_blocks: z.int().describe('How many blocks it read from outside of the shared buffers.'),
        }),
      )
      .nullable()
      .describe(
        'Our statements by their total time, since the statistics were reset; null without `pg_stat_statements`.',
      ),
    slowest_missing: z.string().nullable().describe('Why `slowest` is null.'),
  })
  .meta({
    id: 'DatabaseStatements',
    description: 'The activity of our connections to the database, and our slowest statements.',
    examples: [
      {
        object: 'database_statements',
        at,
        max_connections: 100,
        connections: [{ application: 'enterprise-api', state: 'idle', count: 2 }],
        running: [sessionExample],
        slowest: [slowestExample],
        slowest_missing: null,
      },
    ],
  });
export type DatabaseStatements = z.infer<typeof databaseStatementsSchema>;

const countedSchema = z.int().describe('Counted among the oldest 10,000.');

const nullWhenLate = 'Null if it did not answer within 2 s.';

export const databaseSizesSchema = z
  .strictObject({
    object: z.literal('database_sizes'),
    at: timestampSchema.describe('When the database was asked.'),
    bytes: z.int().describe('The size of the database.'),
    tables: z
      .array(
        z.strictObject({
          name: z.string().describe('The name of the table.'),
          bytes: z.int().describe('Its size with its partitions, indexes and large values.'),
          index_bytes: z.int().describe('The size of its indexes, which `bytes` includes.'),
          rows: z.int().describe('Its rows, estimated.'),
          dead_rows: z.int().describe('Rows that a vacuum will remove, estimated.'),
          partitions: z.int().describe('How many partitions it has.'),
          oldest_partition: z.string().nullable().describe('Its oldest partition.'),
          newest_partition: z.string().nullable().describe('Its newest partition.'),
          vacuumed_at: timestampSchema.nullable().describe('When it, or one of its partitions, was last vacuumed.'),
          analyzed_at: timestampSchema.nullable().describe('When it, or one of its partitions, was last analyzed.'),
        }),
      )
      .nullable()
      .describe(`Our tables, the largest first. ${nullWhenLate}`),
    outbox: z
      .array(
        z.strictObject({
          organization_id: publicIdSchema('org').describe('The organization.'),
          events: countedSchema,
          oldest_at: timestampSchema.describe('When the oldest of them was written.'),
        }),
      )
      .nullable()
      .describe(`Organizations with the most events that are not fanned out. ${nullWhenLate}`),
    overdue: z
      .array(
        z.strictObject({
          webhook_id: publicIdSchema('whk').describe('The webhook.'),
          organization_id: publicIdSchema('org').describe('Its organization.'),
          deliveries: z.int().describe('Counted among the 100,000 that became due last.'),
          due_since: timestampSchema.describe('When the first of them became due.'),
        }),
      )
      .nullable()
      .describe(
        `Webhooks with the most deliveries that are due for more than a minute. Excludes paused deliveries. ${nullWhenLate}`,
      ),
    leased_often: z
      .array(
        z.strictObject({
          delivery_id: publicIdSchema('dlv').describe('The delivery.'),
          leases: z.int().describe('How many leases ended without a recorded attempt.'),
        }),
      )
      .nullable()
      .describe(
        `Deliveries that were leased more than three times and not sent: they may crash their workers. ${nullWhenLate}`,
      ),
    parked_events: z
      .array(
        z.strictObject({
          event_id: publicIdSchema('evt').describe('The event.'),
          organization_id: publicIdSchema('org').describe('Its organization.'),
          reason: z.string().describe('The SQLSTATE, and the constraint or table that refused its deliveries.'),
          failures: z.int().describe('How often its fan-out has failed.'),
          retry_at: timestampSchema.describe('When its fan-out is tried again.'),
        }),
      )
      .nullable()
      .describe(`Events whose deliveries the database refuses, the oldest first. ${nullWhenLate}`),
  })
  .meta({
    id: 'DatabaseSizes',
    description: 'The sizes of our tables, and the organizations and webhooks with the largest backlogs.',
    examples: [
      {
        object: 'database_sizes',
        at,
        bytes: 2 * gib,
        tables: [
          {
            name: 'deliveries',
            bytes: gib,
            index_bytes: gib / 2,
            rows: 1_000_000,
            dead_rows: 1_000,
            partitions: 2,
            oldest_partition: 'deliveries_2026_11',
            newest_partition: 'deliveries_2026_12',
            vacuumed_at: at,
            analyzed_at: at,
          },
        ],
        outbox: [{ organization_id: exampleId('org'), events: 2, oldest_at: at }],
        overdue: [{ webhook_id: exampleId('whk'), organization_id: exampleId('org'), deliveries: 2, due_since: at }],
        leased_often: [{ delivery_id: exampleId('dlv'), leases: 4 }],
        parked_events: [
          {
            event_id: exampleId('evt'),
            organization_id: exampleId('org'),
            reason: '23514 deliveries_status_check',
            failures: 2,
            retry_at: at,
          },
        ],
      },
    ],
  });
export type DatabaseSizes = z.infer<typeof databaseSizesSchema>;
