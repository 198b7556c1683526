import { Resolver as DnsResolver } from 'node:dns/promises';
import { codeOf, dnsFailure, type Failure } from './failures.ts';

/** What the name servers say about a name: every address, IPv4 first, and for how long that holds. */
export type Resolution = { ok: true; addresses: string[]; ttlMs: number } | { ok: false; failure: Failure };

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

/** RFC 6761: resolved without asking anybody. */
const loopback: Resolution = { ok: true, addresses: ['127.0.0.1', '::1'], ttlMs: Number.POSITIVE_INFINITY };

type Records = { address: string; ttl: number }[];

/**
 * Resolves names over DNS alone (no hosts file). Not `dns.lookup`: that has at most two useful threads, so that two
 * names whose servers are silent block every other name for ten seconds.
 */
export function createResolver(options: ResolverOptions = {}): Resolver {
  const { servers, timeoutMs = 2_000, tries = 2, graceMs = 1_000 } = options;
  const dns = new DnsResolver({ timeout: timeoutMs, tries, maxTimeout: timeoutMs });
  if (servers !== undefined) dns.setServers([...servers]);
  return {
    async resolve(name) {
      if (name === 'localhost' || name.endsWith('.localhost')) return loopback;
      const [v4, v6] = await bothFamilies(
        dns.resolve4(name, { ttl: true }),
        dns.resolve6(name, { ttl: true }),
        graceMs,
      );
      const records = [...(v4.records ?? []), ...(v6.records ?? [])];
      if (records.length === 0) return { ok: false, failure: dnsFailure(worse(v4.error, v6.error)) };
      const ttlMs = 1_000 * Math.min(...records.map((record) => record.ttl));
      return { ok: true, addresses: records.map((record) => record.address), ttlMs };
    },
    close: () => dns.cancel(),
  };
}

type Family = { records?: Records; error?: unknown };

/** Name servers that drop the question for one family are common: its silence must not hold up the other's answer. */
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
  if (families.some((family) => family.records !== undefined)) await within(graceMs, all);
  else await all;
  return families;
}

async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, patience]);
  clearTimeout(timer);
}

/** One family has no records on most names: what the other one met says more. */
function worse(v4: unknown, v6: unknown): unknown {
  return codeOf(v4) === 'ENODATA' ? v6 : v4;
}
