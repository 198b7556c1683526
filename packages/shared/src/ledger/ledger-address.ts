export interface LedgerPool {
  url: string;
  /**
   * True if a pooler may give each transaction another session. Session settings would then affect other clients, and
   * LISTEN would be lost. Therefore the pool sets nothing, and the role has the timeouts as settings (`make migrate`).
   */
  pooled?: boolean;
  /** If false, hot statements are sent without a name, for poolers that do not support named statements. */
  prepared?: boolean;
}

export interface LedgerSettings {
  DATABASE_URL: string;
  DATABASE_DIRECT_URL?: string | undefined;
  DATABASE_PREPARED_STATEMENTS: boolean;
}

/** `directUrl` serves work that needs its own session (LISTEN, migrations); `pool` serves everything else. */
export interface LedgerAddress {
  pool: LedgerPool;
  directUrl: string;
}

/** A direct URL that differs from `DATABASE_URL` means that `DATABASE_URL` names a pooler. */
export function ledgerAddress(settings: LedgerSettings): LedgerAddress {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl = url, DATABASE_PREPARED_STATEMENTS: prepared } = settings;
  return { pool: { url, pooled: directUrl !== url, prepared }, directUrl };
}
