import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** As when the server is stopped: connections break, new ones are refused at once. */
  cut(): void;
  /** As when the server is frozen: connections stay, nothing comes through. */
  freeze(): void;
  /** As it was; what was frozen flows again. */
  restore(): void;
  close(): Promise<void>;
}

/** Stands between a service and its store, so that a test can take away what other tests go on using. */
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let mode: 'open' | 'cut' | 'frozen' = 'open';
  const server = createServer((client) => {
    if (mode === 'cut') return void client.destroy();
    const upstream = connect(target.port, target.host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (mode === 'frozen') from.pause();
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      mode = 'cut';
      cutAll();
    },
    freeze: () => {
      mode = 'frozen';
      for (const socket of sockets) socket.pause();
    },
    restore: () => {
      mode = 'open';
      for (const socket of sockets) socket.resume();
    },
    close: async () => {
      cutAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
