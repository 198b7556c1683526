import type { Migration } from 'kysely/migration';
import { migrations } from '../migrations/index.ts';
import { onlineIndexes } from '../online-index.ts';

/** The migrations of this version, and one more that builds two indexes while the ledger is in use. */
export const withOnlineMigration: Readonly<Record<string, Migration>> = {
  ...migrations,
  '9000-events-by-request': onlineIndexes([
    { table: 'events', name: 'events_by_request', definition: '(request_id) where request_id is not null' },
    { table: 'webhooks', name: 'webhooks_by_url', definition: '(url, id)', unique: true },
  ]),
};
