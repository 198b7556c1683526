/** How a pool reaches the ledger. */
export interface LedgerPool {
  url: string;
  /**
   * Whether a pooler lends each transaction any of its sessions: what a connection sets for its session would meet other
   * clients, and LISTEN would be lost. Nothing is set then; the timeouts are settings of the role (`make migrate`).
   */
  pooled?: boolean;
  /** False: hot statements are sent without a name, for poolers that do not follow named statements. */
  prepared?: boolean;
}

/** The settings that say where the ledger is; see the table in the README. */
export interface LedgerSettings {
  DATABASE_URL: string;
  DATABASE_DIRECT_URL?: string | undefined;
  DATABASE_PREPARED_STATEMENTS: boolean;
}

/** Where the ledger is: for statements and transactions, and for what needs a session of its own (LISTEN, migrations). */
export interface LedgerAddress {
  pool: LedgerPool;
  directUrl: string;
}

/** @returns that the pool is behind a pooler exactly if the direct URL is another one */
export function ledgerAddress(settings: LedgerSettings): LedgerAddress {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl = url, DATABASE_PREPARED_STATEMENTS: prepared } = settings;
  return { pool: { url, pooled: directUrl !== url, prepared }, directUrl };
}
