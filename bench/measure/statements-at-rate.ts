import { quantile } from '@enterprise-api/testkit';
import { Client } from 'pg';
import { atRate } from './at-rate.ts';
import { cpuTimes, difference, total } from './cpu.ts';

/** Bare statements by the clock: what this machine makes of the least that a service can ask of its database. */
export interface BareStatements extends AsyncDisposable {
  /** CPU of PostgreSQL per statement, and the median time until its answer, of a `select` and of an insert with its commit. */
  at(perSecond: number, seconds: number): Promise<Record<string, number>>;
}

const statements = {
  select: { name: 'bare select', text: 'select 1' },
  insert: { name: 'bare insert', text: 'insert into bare_statements (at) values (now())' },
};

export async function openBareStatements(databaseUrl: string, postgresPid: number): Promise<BareStatements> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    'create table bare_statements (id bigint generated always as identity primary key, at timestamptz)',
  );
  return {
    at: async (perSecond, seconds) => {
      const figures: Record<string, number> = {};
      for (const [name, statement] of Object.entries(statements)) {
        const before = cpuTimes({ postgres: postgresPid });
        const { tookMs } = await atRate(perSecond, seconds, () => client.query(statement));
        const used = total(difference(before, cpuTimes({ postgres: postgresPid })));
        figures[`${name}_us_at_${perSecond}`] = used / tookMs.length;
        figures[`${name}_p50_at_${perSecond}`] = quantile(tookMs, 0.5);
      }
      return figures;
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
