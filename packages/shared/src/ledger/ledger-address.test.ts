import { describe, expect, it } from '@jest/globals';
import { ledgerAddress } from './ledger-address.ts';

const url = 'postgres://u@pooler/ledger';
const direct = 'postgres://u@server/ledger';

describe('the address of the ledger', () => {
  it('is one for everything by default', () => {
    expect(ledgerAddress({ DATABASE_URL: url, DATABASE_PREPARED_STATEMENTS: true })).toEqual({
      pool: { url, pooled: false, prepared: true },
      directUrl: url,
    });
  });

  it('is behind a pooler where the direct one is another', () => {
    expect(
      ledgerAddress({ DATABASE_URL: url, DATABASE_DIRECT_URL: direct, DATABASE_PREPARED_STATEMENTS: false }),
    ).toEqual({ pool: { url, pooled: true, prepared: false }, directUrl: direct });
  });

  it('is behind no pooler where both are the same', () => {
    const same = { DATABASE_URL: url, DATABASE_DIRECT_URL: url, DATABASE_PREPARED_STATEMENTS: true };
    expect(ledgerAddress(same).pool.pooled).toBe(false);
  });
});
