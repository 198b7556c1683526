import type { Socket } from 'node:net';

/**
 * Closes a connection in three steps. First sends the pending bytes and ends our side. Then discards incoming bytes.
 * Closes once the client ends its side, or after `withinMs`. Closing with unread bytes would reset the connection, and
 * the reset may overtake the answer.
 */
export function closeLingering(socket: Socket, withinMs = 5_000): void {
  const timer = setTimeout(() => socket.destroy(), withinMs);
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  // Replace the HTTP parser's listeners: the parser then sees no more bytes, so Node.js serves no further request here.
  socket.removeAllListeners('data').on('data', () => undefined);
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
