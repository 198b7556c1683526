/** Tables that are partitioned by the time in their ids, with one partition per month. */
export const partitionedTables = ['events', 'event_subjects', 'fan_outs', 'deliveries', 'attempts'] as const;
/** This table is partitioned by the time in event ids, with one partition per UTC day. */
export const bodiesTable = 'event_bodies';
export type PartitionedTable = (typeof partitionedTables)[number];

/** Fast enough to vacuum a partition of a hundred million rows. The server's default is a tenth of this. */
const quickVacuum = 'autovacuum_vacuum_cost_limit = 2000';
/**
 * Analyzing a table renews the plans of prepared statements. This matters because a month's partition begins empty and
 * fills.
 */
const analyzedOften = 'autovacuum_analyze_scale_factor = 0.02';

/**
 * The first vacuum freezes the rows, because otherwise a vacuum would rewrite old months years later to free
 * transaction ids.
 */
const writtenOnce = `autovacuum_freeze_min_age = 0, autovacuum_vacuum_insert_scale_factor = 0.05, ${quickVacuum}, ${analyzedOften}`;

/**
 * Storage and autovacuum settings by table; a partition gets the settings of its table. By default, the server vacuums
 * a table once a fifth of its rows are dead. In a month of deliveries, that is millions of rows. Outbox rows live for
 * milliseconds, so without frequent vacuums readers of the outbox would pass many dead rows.
 */
export const storageParameters: Readonly<Record<string, string>> = {
  events: writtenOnce,
  event_subjects: writtenOnce,
  fan_outs: writtenOnce,
  event_bodies: writtenOnce,
  attempts: writtenOnce,
  // Each row is written twice, at fan-out and at completion, which leaves as many dead rows as live ones.
  deliveries: `autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05, ${quickVacuum}, ${analyzedOften}`,
  outbox:
    'autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0',
};
