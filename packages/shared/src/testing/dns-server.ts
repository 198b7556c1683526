import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type DnsRecord, type ResponseCode, readQuestion, recordTypes, writeResponse } from './dns-message.ts';

/** What the server says about a name, at once for both families. */
export type DnsEntry =
  | {
      a?: readonly string[];
      aaaa?: readonly string[];
      /** The name that this one stands for; the addresses are then that one's. */
      cname?: string;
      /** Seconds; default 0, so that nothing is kept. */
      ttl?: number;
    }
  | { code: Exclude<ResponseCode, 'NOERROR'> }
  /** Never answers. */
  | 'silent';

/** A fixed entry, or one per query: `count` is how often the name and type were asked for before. */
export type DnsScript = DnsEntry | ((query: { type: 'A' | 'AAAA'; count: number }) => DnsEntry);

export type DnsServer = {
  /** `127.0.0.1:port`, as resolvers take it. */
  address: string;
  /** Names as they were asked for, in order, with their type: `A example.org`. */
  queries: string[];
  /** Adds or replaces names. */
  set(names: Record<string, DnsScript>): void;
  close(): Promise<void>;
};

/** A name server on loopback (UDP) that says what a test wants. Names it does not know do not exist. */
export async function startDnsServer(names: Record<string, DnsScript> = {}): Promise<DnsServer> {
  const scripts = new Map(Object.entries(names));
  const queries: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, peer) => {
    const question = readQuestion(message);
    const type = question?.type === recordTypes.A ? 'A' : question?.type === recordTypes.AAAA ? 'AAAA' : null;
    if (question === null || type === null) return;
    const label = `${type} ${question.name}`;
    const count = queries.filter((query) => query === label).length;
    queries.push(label);
    const script = scripts.get(question.name) ?? { code: 'NXDOMAIN' };
    const entry = typeof script === 'function' ? script({ type, count }) : script;
    if (entry === 'silent') return;
    const code = 'code' in entry ? entry.code : 'NOERROR';
    const records = 'code' in entry ? [] : recordsOf(question.name, type, entry);
    socket.send(writeResponse(question, code, records), peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries,
    set(more) {
      for (const [name, script] of Object.entries(more)) scripts.set(name, script);
    },
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function recordsOf(
  name: string,
  type: 'A' | 'AAAA',
  entry: Exclude<DnsEntry, 'silent' | { code: unknown }>,
): DnsRecord[] {
  const { cname, ttl = 0 } = entry;
  const owner = cname ?? name;
  const addresses = (type === 'A' ? entry.a : entry.aaaa) ?? [];
  const alias: DnsRecord[] = cname === undefined ? [] : [{ name, type: 'CNAME', value: cname, ttl }];
  return [...alias, ...addresses.map((value) => ({ name: owner, type, value, ttl }))];
}
