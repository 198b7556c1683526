import { TextDecoder } from 'node:util';

/** An excerpt has at most this many bytes, both of the body and as stored. */
export const maxExcerptBytes = 4_096;

/** Made once, because most answers are UTF-8 or name no charset. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The beginning of a body as text that PostgreSQL and JSON can hold. Bytes that are invalid in the body's charset and NUL
 * become U+FFFD, and a character that the limit cuts is left out.
 *
 * @param contentType its `charset` says how to decode; without one, or with an unknown one, UTF-8
 */
export function excerptOf(chunks: readonly Buffer[], contentType: string | undefined): string | null {
  if (chunks.length === 0) return null;
  const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  const decoder = decoderFor(contentType);
  const text = (decoder === utf8 ? decodeUtf8(body) : decodeBeginning(decoder, body)).replaceAll('\0', '\ufffd');
  return text === '' ? null : withinBytes(text);
}

/** Compressed bodies are not inflated: 10 KB of a stranger's bytes can become 10 GB. */
export function isCompressed(contentEncoding: string | undefined): boolean {
  return contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity';
}

function decoderFor(contentType: string | undefined): TextDecoder {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]{1,40})/i.exec(contentType ?? '')?.[1]?.toLowerCase();
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8') return utf8;
  try {
    return new TextDecoder(charset, { ignoreBOM: true });
  } catch {
    return utf8;
  }
}

function decodeUtf8(body: Buffer): string {
  return utf8.decode(body.subarray(0, wholeCharacters(body)));
}

function decodeBeginning(decoder: TextDecoder, body: Buffer): string {
  // As a stream: a character that the limit cuts is then not written as U+FFFD.
  return decoder.decode(body.subarray(0, maxExcerptBytes), { stream: body.length > maxExcerptBytes });
}

/** The length of the longest beginning within the limit that does not end inside a UTF-8 character. */
function wholeCharacters(body: Buffer): number {
  if (body.length <= maxExcerptBytes) return body.length;
  for (let back = 0; back < 4; back += 1) {
    if (((body[maxExcerptBytes - back] ?? 0) & 0xc0) !== 0x80) return maxExcerptBytes - back;
  }
  return maxExcerptBytes;
}

/** Text can have more bytes as UTF-8 than its body had (U+FFFD has three for one): cut again, between code points. */
function withinBytes(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxExcerptBytes ? text : bytes.toString('utf8', 0, wholeCharacters(bytes));
}
