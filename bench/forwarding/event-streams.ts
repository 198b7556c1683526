import { connect, type Socket } from 'node:net';
import { until } from '@enterprise-api/testkit';

/** Opens streams of events, and waits until each has received its first. They end when disposed of. */
export async function openStreams(port: number, request: Uint8Array, count: number): Promise<EventStreams> {
  const sockets: Socket[] = [];
  const events: number[] = [];
  for (let index = 0; index < count; index++) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    events.push(0);
    socket.on('data', (chunk) => {
      events[index] = (events[index] ?? 0) + String(chunk).split('data: ').length - 1;
    });
    socket.write(request);
    sockets.push(socket);
  }
  const least = () => Math.min(...events);
  await until('every stream has its first event', () => least() > 0, { withinMs: 60_000 });
  return {
    least,
    open: () => sockets.filter((socket) => !socket.closed).length,
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

interface EventStreams extends Disposable {
  /** Events of the stream that has the fewest. */
  least(): number;
  open(): number;
}
