export interface LedgerPool {
  url: string;
  /**
   * True if a pooler lends any session to each transaction. Session settings would then affect other clients, and
   * LISTEN would be lost. Nothing is set then; the role has the timeouts as settings (`make migrate`).
   */
  pooled?: boolean;
  /** If false, hot statements have no name, for poolers that do not follow named statements. */
  prepared?: boolean;
}

export interface LedgerSettings {
  DATABASE_URL: string;
  DATABASE_DIRECT_URL?: string | undefined;
  DATABASE_PREPARED_STATEMENTS: boolean;
}

/** `directUrl` is for work that needs its own session (LISTEN, migrations); the pool is for everything else. */
export interface LedgerAddress {
  pool: LedgerPool;
  directUrl: string;
}

/** `pooled` is true if and only if the direct URL differs. */
export function ledgerAddress(settings: LedgerSettings): LedgerAddress {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl = url, DATABASE_PREPARED_STATEMENTS: prepared } = settings;
  return { pool: { url, pooled: directUrl !== url, prepared }, directUrl };
}
