/** The tables that are partitioned by the time in their ids, a partition a month. */
export const partitionedTables = ['events', 'deliveries', 'attempts'] as const;
/** Partitioned by the time in the ids of events, a partition a UTC day. */
export const bodiesTable = 'event_bodies';
export type PartitionedTable = (typeof partitionedTables)[number];

/** Quick enough for a partition of a hundred million rows: the server's default is a tenth of this. */
const quickVacuum = 'autovacuum_vacuum_cost_limit = 2000';
/** Plans of prepared statements are made anew when a table is analyzed: a month's partition begins empty and fills. */
const analyzedOften = 'autovacuum_analyze_scale_factor = 0.02';

/** Frozen by the first vacuum, so that no old month is rewritten years later to save transaction ids. */
const writtenOnce = `autovacuum_freeze_min_age = 0, autovacuum_vacuum_insert_scale_factor = 0.05, ${quickVacuum}, ${analyzedOften}`;

/**
 * How each table is stored and cleaned, by its name; a partition has those of its table. With the server's defaults a
 * table is vacuumed when a fifth of it is dead: of a month of deliveries that is millions of rows, of the outbox, whose rows
 * live for milliseconds, it is what its readers pass at every step.
 */
export const storageParameters: Readonly<Record<string, string>> = {
  events: writtenOnce,
  event_bodies: writtenOnce,
  attempts: writtenOnce,
  // Written twice, when it is due and when it is done: as many dead rows as rows.
  deliveries: `autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05, ${quickVacuum}, ${analyzedOften}`,
  outbox:
    'autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0',
};
