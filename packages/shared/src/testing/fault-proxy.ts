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

type Mode = 'open' | 'cut' | 'frozen';

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
  let mode: Mode = 'open';
  let delayMs = 0;
  let isMarked = (_pair: Pair, _bytes: Buffer) => false;
  let refused: string | undefined;
  const forward = (from: Socket, to: Socket, pair: Pair) => {
    from.on('data', (bytes: Buffer) => {
      if (from === pair.client && isMarked(pair, bytes)) pair.isDeaf = true;
      if (from === pair.client && refused !== undefined && bytes.includes(refused)) return void from.resetAndDestroy();
      if (pair.isForgotten || (pair.isDeaf && from === pair.upstream)) return;
      if (delayMs === 0) to.write(bytes);
      else setTimeout(() => to.write(bytes), delayMs);
    });
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    if (mode === 'frozen') from.pause();
  };
  const server = createServer((client) => {
    if (mode === 'cut') return void client.on('error', () => undefined).destroy();
    const pair = { client, upstream: connect(target.port, target.host), isForgotten: false, isDeaf: false };
    pairs.add(pair);
    client.on('close', () => pairs.delete(pair));
    forward(client, pair.upstream, pair);
    forward(pair.upstream, client, pair);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const each = (act: (pair: Pair) => void) => {
    for (const pair of pairs) act(pair);
  };
  const cutAll = () => each(({ client }) => client.destroy());
  const close = async () => {
    cutAll();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      mode = 'cut';
      cutAll();
    },
    reset: () => each(({ client }) => client.resetAndDestroy()),
    freeze: () => {
      mode = 'frozen';
      each(({ client, upstream }) => [client, upstream].map((socket) => socket.pause()));
    },
    forget: () =>
      each((pair) => {
        pair.isForgotten = true;
      }),
    halfClose: () => each(({ client }) => client.end()),
    deafen: (mark, { lasting } = { lasting: false }) => {
      const present = new Set(pairs);
      isMarked = (pair, bytes) => (lasting || present.has(pair)) && bytes.includes(mark);
    },
    refuse: (mark) => {
      refused = mark;
    },
    delay: (ms) => {
      delayMs = ms;
    },
    restore: () => {
      mode = 'open';
      delayMs = 0;
      isMarked = () => false;
      refused = undefined;
      each(({ client, upstream }) => [client, upstream].map((socket) => socket.resume()));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The same URL, reached through a proxy. */
export function throughProxy(url: string, proxy: Pick<FaultProxy, 'port'>): string {
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${proxy.port}`;
  return proxied.href;
}
