import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Where to send bytes: with the certificate of an authority, over TLS. */
export interface Destination {
  port: number;
  ca?: string;
}

export interface RawRequest {
  method?: string;
  /** As it goes over the wire; each character is one byte. */
  target: string;
  headers?: readonly (readonly [name: string, value: string])[];
  body?: string | Buffer;
}

export interface RawAnswer {
  /** 0 when the connection ended without an answer. */
  status: number;
  /** Lower-case names, sorted; a header that came twice is there twice. */
  headers: [name: string, value: string][];
  body: string;
}

/** The bytes of a request after which the server is to close the connection. */
function requestBytes({ method = 'GET', target, headers = [], body = '' }: RawRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1'];
  const length = Buffer.byteLength(body);
  if (length > 0) lines.push(`Content-Length: ${length}`);
  const own = headers.map(([name, value]) => `${name}: ${value}`);
  const head = [...lines, ...own, 'Connection: close'].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), Buffer.from(body)]);
}

/** Sends one request over a connection of its own. */
export async function exchange(destination: Destination, request: RawRequest): Promise<RawAnswer> {
  return parseAnswer(await sendBytes(destination, requestBytes(request)));
}

/**
 * Sends bytes, and returns all that comes until the server closes the connection. A server that waits for more is left
 * after `withinMs` (10 s).
 */
export async function sendBytes(destination: Destination, bytes: Buffer, withinMs = 10_000): Promise<string> {
  const socket = open(destination);
  const chunks: Buffer[] = [];
  const timer = setTimeout(() => socket.destroy(), withinMs);
  // A server may close while bytes are on their way; what it said until then is what counts.
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('end', () => socket.end());
  socket.write(bytes);
  await closed;
  clearTimeout(timer);
  return Buffer.concat(chunks).toString('latin1');
}

function open({ port, ca }: Destination): Socket {
  if (ca === undefined) return connect(port, '127.0.0.1');
  return connectTls({ port, host: '127.0.0.1', ca, ALPNProtocols: ['http/1.1'] });
}

/** The first final answer in these bytes. */
export function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return { status: 0, headers: [], body: text };
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const rest = text.slice(end + 4);
  if (status >= 100 && status < 200) return parseAnswer(rest);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  headers.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  const isChunked = headers.some(([name]) => name === 'transfer-encoding');
  return { status, headers, body: Buffer.from(isChunked ? joinChunks(rest) : rest, 'latin1').toString('utf8') };
}

function joinChunks(text: string): string {
  const lineEnd = text.indexOf('\r\n');
  const size = Number.parseInt(text.slice(0, lineEnd), 16);
  if (!(size > 0)) return '';
  const data = lineEnd + 2;
  return text.slice(data, data + size) + joinChunks(text.slice(data + size + 2));
}
