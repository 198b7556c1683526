import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { invalid, type Problem } from '../../core/problem.ts';
import { announcesBody, awaitsContinue, declaredLength } from '../server/body-state.ts';

/**
 * Reads the body of a request. An empty body is no body, chunked or not, whatever its `Content-Type`.
 *
 * @returns the bytes, none for an empty body; 415 for anything but uncompressed JSON in UTF-8, and 413 beyond the limit:
 *   by the head alone where it suffices, otherwise as soon as the first byte, or the first byte too many, arrives
 * @throws ClientGoneError when the client hangs up before the end
 */
export async function readBody(request: Request, limitBytes: number): Promise<Buffer | Problem> {
  if (!announcesBody(request)) return Buffer.alloc(0);
  const wrongType = mediaTypeProblem(request);
  const length = declaredLength(request);
  if (wrongType !== null && length > 0) return wrongType;
  if (length > limitBytes) return tooLarge(limitBytes);
  if (awaitsContinue(request)) request.res?.writeContinue();
  return collect(request, (size) => (size > 0 ? wrongType : null) ?? (size > limitBytes ? tooLarge(limitBytes) : null));
}

/** The client hung up in the middle of its request: no answer can reach it. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

/** @param refuse the problem of a body that is at least this long; asked for each chunk */
function collect(request: IncomingMessage, refuse: (size: number) => Problem | null): Promise<Buffer | Problem> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // Every request emits `close`. To make an error for each would cost a stack trace: a tenth of a small POST.
    const onGone = () => {
      if (!request.readableEnded) reject(new ClientGoneError());
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      const refused = refuse(size);
      if (refused === null) chunks.push(chunk);
      else resolve(refused);
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.on('error', onGone);
    request.on('close', onGone);
  });
}

const jsonType = /^application\/json(?=[\s;]|$)/i;
const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i;

/** Bodies are not decompressed: a small one could fill the memory. */
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

function tooLarge(limitBytes: number): Problem {
  const message = `must be at most ${limitBytes / 1024} KiB`;
  return invalid([{ location: 'body', path: '', code: 'too_big', message }], 'payload_too_large');
}
