import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Starts a proxy on a free port of 127.0.0.1 that lets everything pass until it is told otherwise. */
export async function startFaultProxy(target: { host: string; port: number }): Promise<FaultProxy> {
  const proxy = new FaultProxy(target);
  await proxy.listen();
  return proxy;
}

/** The same URL, reached through a proxy. */
export function throughProxy(url: string, proxy: Pick<FaultProxy, 'port'>): string {
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${proxy.port}`;
  return proxied.href;
}

/** One connection of a client, and the proxy's to the server on its behalf. */
interface Pair {
  client: Socket;
  upstream: Socket;
  /** Carries nothing any more, in either direction. */
  isBlackHoled: boolean;
  /** Carries no answers any more. */
  isStalled: boolean;
}

/** Between a service and its store: a test can break the connections to a store that other tests go on using. */
export class FaultProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #mode: 'open' | 'cut' | 'frozen' = 'open';
  #delayMs = 0;
  #stalls: (pair: Pair, bytes: Buffer) => boolean = () => false;
  #refused: string | undefined;
  #freezesAt: string | undefined;

  constructor(target: { host: string; port: number }) {
    this.#server = createServer((client) => {
      if (this.#mode === 'cut') client.on('error', () => undefined).destroy();
      else this.#accept(client, connect(target.port, target.host));
    });
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** As when the server is stopped: connections break, new ones are refused at once. */
  cut(): void {
    this.#mode = 'cut';
    for (const { client } of this.#pairs) client.destroy();
  }

  /** As when the server crashes: connections are reset; new ones are served as before. */
  reset(): void {
    for (const { client } of this.#pairs) client.resetAndDestroy();
  }

  /** As when the server is frozen: connections stay, nothing comes through. */
  freeze(): void {
    this.#mode = 'frozen';
    for (const socket of this.#sockets()) socket.pause();
  }

  /** Freezes as soon as a client sends these bytes, before they reach the server. */
  freezeAt(bytes: string): void {
    this.#freezesAt = bytes;
  }

  /**
   * As when a firewall drops the state of its connections: the present ones carry nothing any more, and neither side is
   * told; new ones work.
   */
  blackHole(): void {
    for (const pair of this.#pairs) pair.isBlackHoled = true;
  }

  /** As when the server ends its side (FIN): no answers come any more, and what clients send still arrives. */
  halfClose(): void {
    for (const { client } of this.#pairs) client.end();
  }

  /**
   * A connection on which these bytes are sent from now on gets no answers any more, to anything. What it sends
   * arrives.
   *
   * @param lasting connections made later too; else the present ones alone
   */
  stall(bytes: string, { lasting } = { lasting: false }): void {
    const present = new Set(this.#pairs);
    this.#stalls = (pair, sent) => (lasting || present.has(pair)) && sent.includes(bytes);
  }

  /** A connection on which these bytes are sent from now on is reset at once; others pass. */
  refuse(bytes: string): void {
    this.#refused = bytes;
  }

  /** Everything arrives, so much later, in its order. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Ends all faults: frozen connections flow again. Black-holed and stalled connections stay so. */
  restore(): void {
    this.#mode = 'open';
    this.#delayMs = 0;
    this.#stalls = () => false;
    this.#refused = undefined;
    this.#freezesAt = undefined;
    for (const socket of this.#sockets()) socket.resume();
  }

  async close(): Promise<void> {
    for (const { client } of this.#pairs) client.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(client: Socket, upstream: Socket): void {
    const pair = { client, upstream, isBlackHoled: false, isStalled: false };
    this.#forward(pair, client, upstream);
    this.#forward(pair, upstream, client);
    this.#pairs.add(pair);
    client.on('close', () => this.#pairs.delete(pair));
  }

  #forward(pair: Pair, from: Socket, to: Socket): void {
    from.on('data', (bytes: Buffer) => {
      if (from === pair.client) {
        if (this.#refused !== undefined && bytes.includes(this.#refused)) return void from.resetAndDestroy();
        if (this.#freezesAt !== undefined && bytes.includes(this.#freezesAt)) this.freeze();
        // What was read at the moment of freezing is read again when everything flows.
        if (this.#mode === 'frozen') return from.unshift(bytes);
        pair.isStalled ||= this.#stalls(pair, bytes);
      }
      if (pair.isBlackHoled || (pair.isStalled && from === pair.upstream)) return;
      if (this.#delayMs === 0) to.write(bytes);
      else setTimeout(() => to.write(bytes), this.#delayMs);
    });
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    if (this.#mode === 'frozen') from.pause();
  }

  #sockets(): Socket[] {
    return [...this.#pairs].flatMap(({ client, upstream }) => [client, upstream]);
  }
}
