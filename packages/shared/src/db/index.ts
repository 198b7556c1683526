export * from './audit.ts';
export * from './clock.ts';
export * from './database.ts';
export * from './ledger-figures.ts';
export * from './migrate.ts';
export * from './partitions.ts';
export * from './require-ledger.ts';
export * from './savepoint.ts';
export type * from './schema.ts';
