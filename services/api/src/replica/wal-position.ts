/** A place in the write-ahead log of a database. Places on different timelines cannot be compared. */
export interface WalPosition {
  /** Begins anew, with the next number, whenever a replica becomes the primary. */
  timeline: number;
  lsn: bigint;
}

/** PostgreSQL's pages of the log, and the headers at the beginning of a page, of which a segment's first one is longer. */
const pageBytes = 8_192n;
const headerBytes = [24n, 40n];

/** @param text as PostgreSQL writes it, such as `16/B374D848` */
export function parseLsn(text: string): bigint {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/.exec(text) ?? [];
  if (high === undefined || low === undefined) throw new Error(`${JSON.stringify(text)} is no place in the log.`);
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/**
 * Where the last record has ended, of the place where the next one will begin. They differ by the header of a page that has
 * no record yet: a replica that has replayed everything would otherwise seem to lag for as long as nothing is written.
 */
export function endOfLastRecord(nextRecord: bigint): bigint {
  const inPage = nextRecord % pageBytes;
  return headerBytes.includes(inPage) ? nextRecord - inPage : nextRecord;
}
