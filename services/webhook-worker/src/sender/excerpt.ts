/** An excerpt is at most this many bytes, of the body and as stored. */
export const maxExcerptBytes = 4_096;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The beginning of a body as text that PostgreSQL and JSON can hold: bytes that are no UTF-8 and NUL become U+FFFD, and
 * a character cut by the limit is left out. Null for no body, and for a compressed one: inflating what a stranger sends
 * is how 10 KB become 10 GB.
 */
export function excerptOf(chunks: readonly Buffer[], contentEncoding: string | undefined): string | null {
  if (chunks.length === 0 || (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity')) {
    return null;
  }
  const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  const text = decoder.decode(body.subarray(0, wholeCharacters(body))).replaceAll('\0', '\ufffd');
  return text === '' ? null : withinBytes(text);
}

/** The length of the longest beginning within the limit that does not end inside a UTF-8 character. */
function wholeCharacters(body: Buffer): number {
  if (body.length <= maxExcerptBytes) return body.length;
  for (let back = 0; back < 4; back += 1) {
    if (((body[maxExcerptBytes - back] ?? 0) & 0xc0) !== 0x80) return maxExcerptBytes - back;
  }
  return maxExcerptBytes;
}

/** U+FFFD has three bytes where there was one: cut again, by code points. */
function withinBytes(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxExcerptBytes ? text : bytes.toString('utf8', 0, wholeCharacters(bytes));
}
