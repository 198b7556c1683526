import type { IncomingMessage } from 'node:http';
import { invalid, type Problem } from '../../core/problem.ts';

const jsonType = /^application\/json(?=[\s;]|$)/i;
const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i;

/** Whether the request has a body at all; an empty one counts as none. */
function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}

/** 415: only uncompressed JSON in UTF-8. Inflating what strangers send is a way to be filled up. */
function mediaTypeProblem(request: IncomingMessage): Problem | null {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return unsupported('Content-Encoding', 'must be left out: bodies are read uncompressed');
  }
  const type = request.headers['content-type'] ?? '';
  const label = charset.exec(type)?.[1];
  const isUtf8 = label === undefined || /^utf-?8$/i.test(label);
  return jsonType.test(type) && isUtf8 ? null : unsupported('Content-Type', 'must be application/json in UTF-8');
}

function unsupported(path: string, message: string): Problem {
  return invalid([{ location: 'header', path, code: 'unsupported', message }], 'unsupported_media_type');
}

/**
 * Reads the body of a request whose answer depends on it.
 *
 * @returns the bytes (none for an empty body), or 415 before and 413 while reading. What is left unread after a 413 is
 *   drained by Node until the request's own deadline, so that the client gets to see the answer.
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | Problem> {
  if (!hasBody(request)) return Buffer.alloc(0);
  const wrongType = mediaTypeProblem(request);
  if (wrongType !== null) return wrongType;
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) return tooLarge(limitBytes);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // Every request closes. An error that nobody will see costs a stack trace: a tenth of what a small POST does.
    const gone = () => {
      if (!request.readableEnded) reject(new ClientGoneError());
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) resolve(tooLarge(limitBytes));
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.on('error', gone);
    request.on('close', gone);
  });
}

/** The client hung up in the middle of its request: there is nobody to answer. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

function tooLarge(limitBytes: number): Problem {
  const message = `must be at most ${limitBytes / 1024} KiB`;
  return invalid([{ location: 'body', path: '', code: 'too_big', message }], 'payload_too_large');
}
