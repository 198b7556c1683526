import { createPool, type Database, type Schema } from '@enterprise-api/shared/ledger';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';

/** A node of a query's plan, as `explain (analyze, format json)` tells it. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** Tells how the database runs the queries of a function, with what is in the tables now. */
export interface QueryPlans {
  /** Runs a function on a handle that records, and returns the nodes of its last query's plan. */
  of(ask: (recorded: Database) => Promise<unknown>): Promise<PlanNode[]>;
  close(): Promise<void>;
}

/** @param serverSettings what its session sets, as the code under test does in its transactions */
export function openQueryPlans(url: string, serverSettings?: Record<string, string>): QueryPlans {
  const asked: CompiledQuery[] = [];
  const dialect = new PostgresDialect({
    pool: createPool({
      url,
      applicationName: 'test',
      poolSize: 1,
      ...(serverSettings && { serverSettings }),
    }),
  });
  const recorded = new Kysely<Schema>({ dialect, log: ({ query }) => void asked.push(query) });
  const plain = new Kysely<Schema>({ dialect });
  return {
    of: async (ask) => {
      asked.length = 0;
      await ask(recorded);
      const query = asked.at(-1) as CompiledQuery;
      const explain = CompiledQuery.raw(`explain (analyze, format json) ${query.sql}`, [...query.parameters]);
      const { rows } = await plain.executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain);
      return rows.flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan));
    },
    close: () => recorded.destroy(),
  };
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** The tables, of those whose names begin so, that a plan reads as a whole. An empty partition is one empty page. */
export function wholeTablesRead(plan: readonly PlanNode[], tables: RegExp): string[] {
  const isWhole = (node: PlanNode) => node['Node Type'] === 'Seq Scan' && tables.test(node['Relation Name'] ?? '');
  const isEmpty = (node: PlanNode) => node['Actual Rows'] === 0 && (node['Rows Removed by Filter'] ?? 0) === 0;
  return plan.filter((node) => isWhole(node) && !isEmpty(node)).map((node) => node['Relation Name'] ?? '');
}

/** The tables, of those whose names match, that a plan enters. */
export function relationsOf(plan: readonly PlanNode[], tables: RegExp): string[] {
  const entered = plan.filter((node) => node['Actual Loops'] > 0).map((node) => node['Relation Name'] ?? '');
  return [...new Set(entered.filter((name) => tables.test(name)))];
}

/** The rows of some tables that a plan looks at. */
export function rowsRead(plan: readonly PlanNode[], tables: RegExp): number {
  return plan
    .filter((node) => tables.test(node['Relation Name'] ?? ''))
    .reduce(
      (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    );
}
