import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a service and its store, so that a test can take away what other tests go on using. */
export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  /** As when the server is stopped: connections break, new ones are refused at once. */
  cut(): void;
  /** As when the server crashes: connections are reset; new ones are served as before. */
  reset(): void;
  /** As when the server is frozen: connections stay, nothing comes through. */
  freeze(): void;
  /** Freezes as soon as a client sends these bytes, before they reach the server. */
  freezeAt(mark: string): void;
  /** As when a firewall forgets its connections: those of now carry nothing any more and are not told; new ones work. */
  forget(): void;
  /** Nothing more comes from the server, and it is still written to. */
  halfClose(): void;
  /**
   * Whoever says this from now on gets no answers any more, to nothing: connected, and deaf. What it says arrives.
   *
   * @param lasting connections made later too; else those of now alone
   */
  deafen(mark: string, options?: { lasting: boolean }): void;
  /** Whoever says this from now on is reset at once; others pass. */
  refuse(mark: string): void;
  /** Everything arrives, so much later, in its order. */
  delay(ms: number): void;
  /** As it was; what was frozen flows again. */
  restore(): void;
  close(): Promise<void>;
}

/** What is wrong just now. */
interface Faults {
  mode: 'open' | 'cut' | 'frozen';
  delayMs: number;
  /** Whether what a client says makes it deaf. */
  deafens: (pair: Pair, bytes: Buffer) => boolean;
  /** Who says this is reset. */
  refused: string | undefined;
  /** A client that sends this freezes everything. */
  freezesAt: string | undefined;
}

const noFaults: Faults = {
  mode: 'open',
  delayMs: 0,
  deafens: () => false,
  refused: undefined,
  freezesAt: undefined,
};

/** One connection of a client, and ours to the server on its behalf. */
interface Pair {
  client: Socket;
  upstream: Socket;
  isForgotten: boolean;
  isDeaf: boolean;
}

/** Starts a proxy on a free port of 127.0.0.1 that lets everything pass until it is told otherwise. */
export async function startFaultProxy(target: { host: string; port: number }): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  const faults = { ...noFaults };
  const server = createServer((client) => {
    if (faults.mode === 'cut') return void client.on('error', () => undefined).destroy();
    const pair = { client, upstream: connect(target.port, target.host), isForgotten: false, isDeaf: false };
    pairs.add(pair);
    client.on('close', () => pairs.delete(pair));
    forward(pair, 'up', faults, freeze);
    forward(pair, 'down', faults, freeze);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const each = (act: (pair: Pair) => void) => {
    for (const pair of pairs) act(pair);
  };
  const freeze = () => {
    faults.mode = 'frozen';
    each(({ client, upstream }) => [client, upstream].map((socket) => socket.pause()));
  };
  const cutAll = () => each(({ client }) => client.destroy());
  const close = async () => {
    cutAll();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      faults.mode = 'cut';
      cutAll();
    },
    reset: () => each(({ client }) => client.resetAndDestroy()),
    freeze,
    freezeAt: (mark) => {
      faults.freezesAt = mark;
    },
    forget: () =>
      each((pair) => {
        pair.isForgotten = true;
      }),
    halfClose: () => each(({ client }) => client.end()),
    deafen: (mark, { lasting } = { lasting: false }) => {
      const present = new Set(pairs);
      faults.deafens = (pair, bytes) => (lasting || present.has(pair)) && bytes.includes(mark);
    },
    refuse: (mark) => {
      faults.refused = mark;
    },
    delay: (ms) => {
      faults.delayMs = ms;
    },
    restore: () => {
      Object.assign(faults, noFaults);
      each(({ client, upstream }) => [client, upstream].map((socket) => socket.resume()));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** From the client up to the server, or down from it. */
function forward(pair: Pair, way: 'up' | 'down', faults: Faults, freeze: () => void): void {
  const [from, to] = way === 'up' ? [pair.client, pair.upstream] : [pair.upstream, pair.client];
  from.on('data', (bytes: Buffer) => {
    if (way === 'up') {
      if (faults.refused !== undefined && bytes.includes(faults.refused)) return void from.resetAndDestroy();
      if (faults.freezesAt !== undefined && bytes.includes(faults.freezesAt)) freeze();
      pair.isDeaf ||= faults.deafens(pair, bytes);
    }
    // What was read in the moment of freezing is read again when everything flows.
    if (way === 'up' && faults.mode === 'frozen') {
      from.unshift(bytes);
      return;
    }
    if (pair.isForgotten || (pair.isDeaf && way === 'down')) return;
    if (faults.delayMs === 0) to.write(bytes);
    else setTimeout(() => to.write(bytes), faults.delayMs);
  });
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
  if (faults.mode === 'frozen') from.pause();
}

/** The same URL, reached through a proxy. */
export function throughProxy(url: string, proxy: Pick<FaultProxy, 'port'>): string {
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${proxy.port}`;
  return proxied.href;
}
