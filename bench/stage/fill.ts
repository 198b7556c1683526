import { statfsSync } from 'node:fs';
import { newUuid } from '@enterprise-api/shared/runtime';
import { Client } from 'pg';

/** Fills the history with rows, as if they had been delivered over the last four weeks or another period. */
export interface Filler extends AsyncDisposable {
  /** Webhooks of the measured organization that have rows. */
  readonly webhookIds: readonly string[];
  /** Adds rows up to a total. @returns the reason when the disk has no space for them */
  fillTo(rows: number, period?: { from: Date; until: Date }): Promise<string | undefined>;
}

export interface FillerOptions {
  organizationId: string;
  webhookIds: readonly string[];
  /** The folder of the database, whose free space is checked. */
  folder: string;
}

/** A delivery with its attempts, indexes and write-ahead log. */
const bytesPerRow = 1_300;
const rowsPerStatement = 250_000;
const webhooksOfTheOrganization = 10;
const otherOrganizations = 100;
const hourMs = 3_600_000;

export async function openFiller(databaseUrl: string, options: FillerOptions): Promise<Filler> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const webhookIds = [...options.webhookIds];
  while (webhookIds.length < webhooksOfTheOrganization) webhookIds.push(newUuid());
  const others = Array.from({ length: otherOrganizations }, newUuid);
  let rows = 0;
  return {
    webhookIds,
    fillTo: async (wanted, period = lastWeeks()) => {
      const { bavail, bsize } = statfsSync(options.folder);
      if (bavail * bsize < (wanted - rows) * bytesPerRow) return `the disk has no space for ${wanted} rows`;
      for (let done = rows; done < wanted; done += rowsPerStatement) {
        const last = Math.min(done + rowsPerStatement, wanted);
        const owners = [options.organizationId, webhookIds, others];
        await client.query(insertDeliveries, [done, last, ...owners, rows, wanted, period.from, period.until]);
      }
      rows = wanted;
      // As in a database that has grown slowly: statistics are up to date, and everything is on disk.
      for (const table of ['deliveries', 'attempts']) await client.query(`vacuum (analyze) ${table}`);
      await client.query('checkpoint');
      return undefined;
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** The last four weeks, up to an hour ago. */
function lastWeeks(): { from: Date; until: Date } {
  const until = new Date(Date.now() - hourMs);
  return { from: new Date(until.getTime() - 27 * 24 * hourMs), until };
}

/**
 * In the order of time. Half of the rows belong to the measured organization. Ids carry their time, as everywhere. 97
 * of 100 deliveries have succeeded, and all of the organization's first webhook.
 */
const insertDeliveries = `
  with rows as (
    select i, at, i % 2 = 0 as ours,
      lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as time, hash,
      case when i % 20 = 0 then 0 else ('x' || substr(hash, 20, 6))::bit(24)::int % 100 end as chance
    from (select i, md5(i::text) as hash, $8::timestamptz + ($9::timestamptz - $8::timestamptz) * ((i - $6::bigint)::float8 / ($7::bigint - $6::bigint)) as at
          from generate_series($1::bigint + 1, $2::bigint) i) numbered
  ), made as (
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, attempt_count, max_attempts,
      last_status_code, last_error, last_duration_ms, created_at, completed_at, delivered_by, delivered_version, excerpt,
      first_byte_ms)
    select (time || '8' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid,
      case when ours then $3::uuid else ($5::uuid[])[1 + (i / 2) % array_length($5::uuid[], 1)] end,
      case when ours then ($4::uuid[])[1 + (i / 2) % array_length($4::uuid[], 1)]
           else ($5::uuid[])[1 + (i / 2) % array_length($5::uuid[], 1)] end,
      (time || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid,
      (array['consultation.completed', 'consultation.failed', 'batch.completed'])[1 + i % 3],
      case when chance < 97 then 'succeeded' when chance < 99 then 'failed' else 'canceled' end,
      1, 4, case when chance < 97 then 200 else 503 end, case when chance < 97 then null else 'http_error' end,
      12, at, at + interval '20 milliseconds',
      case when chance < 97 then (time || '7' || substr(hash, 8, 3) || '8' || substr(hash, 11, 15))::uuid end,
      case when chance < 97 then 1 end, case when chance < 97 then 'ok' end, case when chance < 97 then 12 end
    from rows
    returning id, created_at, last_status_code, last_error
  )
  insert into attempts (delivery_id, id, number, round, superseded, started_at, duration_ms, status_code, error,
    webhook_version, excerpt, first_byte_ms)
  select id, gen_random_uuid(), 1, 0, false, created_at, 12, last_status_code, last_error, 1, 'ok', 12
  from made where last_error is not null`;
