import { findPgBouncer } from '@enterprise-api/testkit';
import { installPackages, type SearchOptions } from './install.ts';

/** Whether the tests have the pooler that they put before the database. */
export type PoolerSource = { kind: 'program' } | { kind: 'none'; problem: string; advice: string };

const advice =
  'Install PgBouncer (Debian, Ubuntu: sudo apt-get install pgbouncer; macOS: brew install pgbouncer); its service need not run.';

/** A PgBouncer on the PATH; else one installed with apt-get, when permitted; else advice. */
export async function findPooler(options: SearchOptions): Promise<PoolerSource> {
  if (findPgBouncer() !== undefined) return { kind: 'program' };
  const problem = await installPackages(['pgbouncer'], options);
  return findPgBouncer() === undefined ? { kind: 'none', problem, advice } : { kind: 'program' };
}
