import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import {
  type DnsRecord,
  type ResponseCode,
  readQuestion,
  recordTypes,
  writeResponse,
  writeTruncated,
} from './dns-message.ts';

/** The server's answer for a name, for both address families. */
export type DnsEntry =
  | {
      a?: readonly string[];
      aaaa?: readonly string[];
      /** The name that this one stands for, or a chain of them; the addresses are the last one's. */
      cname?: string | readonly string[];
      /** Seconds; default 0, so that nothing is kept. */
      ttl?: number;
    }
  | { code: Exclude<ResponseCode, 'NOERROR'> }
  /** Gives no answer. */
  | 'silent';

/** A fixed entry, or one per query: `count` is how often the name and type were asked for before. */
export type DnsScript = DnsEntry | ((query: { type: 'A' | 'AAAA'; count: number }) => DnsEntry);

export type DnsServer = {
  /** `127.0.0.1:port`, in the notation of resolvers. */
  address: string;
  /** Names as they were asked for, in order, with their type: `A example.org`. */
  queries: string[];
  /** Adds or replaces names. */
  set(names: Record<string, DnsScript>): void;
  close(): Promise<void>;
};

/**
 * A name server on loopback with scripted answers. Unknown names do not exist (NXDOMAIN). An answer that is too long
 * for a datagram is truncated, and complete over TCP.
 */
export async function startDnsServer(names: Record<string, DnsScript> = {}): Promise<DnsServer> {
  const scripts = new Map(Object.entries(names));
  const queries: string[] = [];
  const { udp, tcp, port } = await listenOnBoth();
  udp.on('message', (message, peer) => {
    const answer = answerTo(message, scripts, queries);
    if (answer === null) return;
    udp.send(answer.whole.length > datagramBytes ? answer.truncated : answer.whole, peer.port, peer.address);
  });
  tcp.on('connection', (connection) => {
    connection
      .on('error', () => undefined)
      .on('data', (chunk) => {
        // A query is far smaller than a segment, so it arrives in one piece, behind the two bytes of its length.
        const answer = answerTo(chunk.subarray(2), scripts, queries);
        if (answer === null) return;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.whole.length);
        connection.end(Buffer.concat([length, answer.whole]));
      });
  });
  return {
    address: `127.0.0.1:${port}`,
    queries,
    set(more) {
      for (const [name, script] of Object.entries(more)) scripts.set(name, script);
    },
    async close() {
      udp.close();
      tcp.close();
      await Promise.all([once(udp, 'close'), once(tcp, 'close')]);
    },
  };
}

/** Adds the query to `queries`. @returns null when the script gives no answer */
function answerTo(
  message: Buffer,
  scripts: ReadonlyMap<string, DnsScript>,
  queries: string[],
): { whole: Buffer; truncated: Buffer } | null {
  const question = readQuestion(message);
  const type = question?.type === recordTypes.A ? 'A' : question?.type === recordTypes.AAAA ? 'AAAA' : null;
  if (question === null || type === null) return null;
  const label = `${type} ${question.name}`;
  const count = queries.filter((query) => query === label).length;
  queries.push(label);
  const script = scripts.get(question.name) ?? { code: 'NXDOMAIN' };
  const entry = typeof script === 'function' ? script({ type, count }) : script;
  if (entry === 'silent') return null;
  const code = 'code' in entry ? entry.code : 'NOERROR';
  const records = 'code' in entry ? [] : recordsOf(question.name, type, entry);
  return { whole: writeResponse(question, code, records), truncated: writeTruncated(question) };
}

/** The size of datagrams that resolvers accept (EDNS). */
const datagramBytes = 1_232;

/** UDP and TCP on one port. When the port that the system chose for UDP is busy for TCP, another one is tried. */
async function listenOnBoth() {
  for (;;) {
    const udp = createSocket('udp4');
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const { port } = udp.address();
    const tcp = createServer();
    try {
      tcp.listen(port, '127.0.0.1');
      await once(tcp, 'listening');
      return { udp, tcp, port };
    } catch {
      udp.close();
    }
  }
}

function recordsOf(
  name: string,
  type: 'A' | 'AAAA',
  entry: Exclude<DnsEntry, 'silent' | { code: unknown }>,
): DnsRecord[] {
  const { cname = [], ttl = 0 } = entry;
  const chain = [name, ...(typeof cname === 'string' ? [cname] : cname)];
  const owner = chain.at(-1) ?? name;
  const addresses = (type === 'A' ? entry.a : entry.aaaa) ?? [];
  const aliases = chain
    .slice(1)
    .map((value, index): DnsRecord => ({ name: chain[index] ?? name, type: 'CNAME', value, ttl }));
  return [...aliases, ...addresses.map((value) => ({ name: owner, type, value, ttl }))];
}
