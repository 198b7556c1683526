import type { Socket } from 'node:net';

/** Limits for a client that continues to send its request after the answer. */
export interface LingerLimits {
  ms: number;
  bytes: number;
}

const usualLimits: LingerLimits = { ms: 5_000, bytes: 64 * 1024 * 1024 };

/**
 * Closes a connection in three steps. First sends the pending bytes and ends our side. Then discards incoming bytes.
 * Closes once the client ends its side or a limit is reached. Closing with unread bytes would reset the connection, and
 * the reset may overtake the answer.
 */
export function closeLingering(socket: Socket, limits: LingerLimits = usualLimits): void {
  let discarded = 0;
  const timer = setTimeout(() => socket.destroy(), limits.ms);
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  // Remove the HTTP parser's listeners: the parser then sees no more bytes, so Node.js serves no further request here.
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > limits.bytes) socket.destroy();
  });
  socket.end();
  socket.resume();
}

/**
 * Makes Node's HTTP server close this connection with {@link closeLingering} after the answer. The server calls
 * `destroySoon` if the answer has `Connection: close`; Node.js offers no other hook for closing.
 */
export function lingerAfterAnswer(socket: Socket): void {
  socket.destroySoon = () => closeLingering(socket);
}
