import { Resolver as DnsResolver } from 'node:dns/promises';
import { settledWithin } from '@enterprise-api/shared/runtime';
import { codeOf, dnsFailure, type Failure, isTemporaryDnsError } from './failures.ts';

/** What the name servers say about a name: every address, IPv4 first, and for how long that holds. */
export type Resolution =
  | { ok: true; addresses: string[]; ttlMs: number }
  /** `isTemporary`: no answer about the name, unlike an answer that it has no address. */
  | { ok: false; failure: Failure; isTemporary: boolean };

export type Resolver = {
  /** Never rejects. */
  resolve(name: string): Promise<Resolution>;
  close(): void;
};

export type ResolverOptions = {
  /** `address` or `address:port`; default: those of the system. */
  servers?: readonly string[];
  timeoutMs?: number;
  tries?: number;
  /** How long to wait for the other family once one has answered. */
  graceMs?: number;
};

type Records = { address: string; ttl: number }[];

/**
 * Resolves names over DNS alone (no hosts file). Not `dns.lookup`, which has at most two useful threads: two names whose
 * servers are silent would block every other name for ten seconds.
 */
export function createResolver(options: ResolverOptions = {}): Resolver {
  const { servers, timeoutMs = 2_000, tries = 2, graceMs = 1_000 } = options;
  const dns = new DnsResolver({ timeout: timeoutMs, tries, maxTimeout: timeoutMs });
  if (servers !== undefined) dns.setServers([...servers]);
  return {
    async resolve(name) {
      const [v4, v6] = await bothFamilies(
        dns.resolve4(name, { ttl: true }),
        dns.resolve6(name, { ttl: true }),
        graceMs,
      );
      const records = [...(v4.records ?? []), ...(v6.records ?? [])];
      if (records.length === 0) {
        // Most names have no records of one family: the error of the other one says more.
        const error = codeOf(v4.error) === 'ENODATA' ? v6.error : v4.error;
        return { ok: false, failure: dnsFailure(error), isTemporary: isTemporaryDnsError(error) };
      }
      const ttlMs = 1_000 * Math.min(...records.map((record) => record.ttl));
      return { ok: true, addresses: records.map((record) => record.address), ttlMs };
    },
    close: () => dns.cancel(),
  };
}

type Family = { records?: Records; error?: unknown };

/** Name servers that ignore questions for one family are common: their silence must not delay the other family's answer. */
async function bothFamilies(v4: Promise<Records>, v6: Promise<Records>, graceMs: number): Promise<[Family, Family]> {
  const families: [Family, Family] = [{}, {}];
  const settled = [v4, v6].map(async (question, index) => {
    try {
      families[index as 0 | 1].records = await question;
    } catch (error) {
      families[index as 0 | 1].error = error;
    }
  });
  const all = Promise.all(settled);
  await Promise.race([all, ...settled]);
  if (families.some((family) => family.records !== undefined)) await settledWithin(all, graceMs);
  else await all;
  return families;
}
