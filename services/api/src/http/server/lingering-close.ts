import type { Socket } from 'node:net';

/** How long, and how many bytes, a client may go on sending a request that was answered already. */
export interface LingerLimits {
  ms: number;
  bytes: number;
}

const usualLimits: LingerLimits = { ms: 5_000, bytes: 64 * 1024 * 1024 };

/**
 * Closes a connection in three steps: sends what was written and the end of our side, discards what the client still
 * sends, closes when the client has ended its side or a limit is reached. To close with unread bytes at once would reset
 * the connection, and the reset may overtake the answer before the client has read it.
 */
export function closeLingering(socket: Socket, limits: LingerLimits = usualLimits): void {
  let discarded = 0;
  const timer = setTimeout(() => socket.destroy(), limits.ms);
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  // Without its listeners, the HTTP parser no longer sees the bytes: what follows on this connection is not served.
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
 * `destroySoon` on a connection whose answer has `Connection: close`; it offers no other way to change how it closes.
 */
export function lingerAfterAnswer(socket: Socket): void {
  socket.destroySoon = () => closeLingering(socket);
}
