import { type Kysely, sql } from 'kysely';

/**
 * How far the time in a row's id and its `created_at` may lie apart, by far: clocks are corrected beyond 5 minutes, and a
 * producer may wait for the lock of an event's key. Of deliveries only those that `late_deliveries` tells of come later.
 */
export const idMarginMs = 24 * 60 * 60_000;

/**
 * Has a partition of deliveries note in `late_deliveries` what is added to it more than {@link idMarginMs} after its month: an
 * event that waited in the outbox for so long has its deliveries in an old partition, with a new `created_at`. The history can
 * then leave out old partitions without looking. For all other rows this costs one comparison (docs/adr/0054).
 */
export async function noteLateDeliveries<DB>(db: Kysely<DB>, partition: string, monthEndMs: number): Promise<void> {
  const bound = new Date(monthEndMs + idMarginMs).toISOString();
  await sql`create or replace trigger late_delivery after insert on ${sql.table(partition)} for each row
    when (new.created_at >= ${sql.lit(bound)}::timestamptz) execute function note_late_delivery()`.execute(db);
}
