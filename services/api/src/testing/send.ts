import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed text; undefined when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what tests find out
  readonly body: any;
}

export interface Sent {
  method: string;
  /** Listener and target. */
  url: string;
  headers?: Record<string, string>;
  body?: string | Buffer | undefined;
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

/** Sends a request that no polite client would send: any method with any body, over kept-alive connections. */
export function send({ method, url, headers = {}, body }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const sent = request(url, { method, agent, headers: { ...length, ...headers } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { statusCode: status = 0, headers: got } = answer;
        resolve({ status, headers: got, text, body: text === '' ? undefined : JSON.parse(text) });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends bytes as they are, and gives the text of everything that came until the server closed the connection. */
export async function sendRaw(listenerUrl: string, text: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(listenerUrl);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.write(text);
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}
