/** A request, unchanged. */
export type ReadRequest = {
  method: string;
  path: string;
  /** Lower-case names; values of a repeated header are joined with a comma. */
  headers: Record<string, string>;
  /** Names and values as they came. */
  rawHeaders: [string, string][];
  body: Buffer;
};

/** A body, and where the next request begins. */
type ReadBody = { body: Buffer; end: number };

const headEnd = Buffer.from('\r\n\r\n');

/**
 * Reads HTTP/1.1 requests out of a byte stream. Independent of the parser of the programs under test, and strict: what
 * it throws at, no program of ours should have sent.
 */
export class RequestReader {
  #bytes: Buffer = Buffer.alloc(0);
  #head: Omit<ReadRequest, 'body'> | null = null;

  push(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
  }

  /** The head that is complete, while its body may not be. */
  head(): Omit<ReadRequest, 'body'> | null {
    if (this.#head === null) {
      const end = this.#bytes.indexOf(headEnd);
      if (end === -1) return null;
      this.#head = parseHead(this.#bytes.toString('latin1', 0, end));
      this.#bytes = this.#bytes.subarray(end + headEnd.length);
    }
    return this.#head;
  }

  /** The next whole request, or null until more bytes come. */
  next(): ReadRequest | null {
    const head = this.head();
    if (head === null) return null;
    const read = 'transfer-encoding' in head.headers ? readChunks(this.#bytes) : this.#readLength(head);
    if (read === null) return null;
    this.#bytes = this.#bytes.subarray(read.end);
    this.#head = null;
    return { ...head, body: read.body };
  }

  #readLength(head: Omit<ReadRequest, 'body'>): ReadBody | null {
    const end = Number(head.headers['content-length'] ?? 0);
    return this.#bytes.length < end ? null : { body: this.#bytes.subarray(0, end), end };
  }
}

function parseHead(text: string): Omit<ReadRequest, 'body'> {
  const [requestLine = '', ...lines] = text.split('\r\n');
  const [method = '', path = ''] = requestLine.split(' ');
  const headers: Record<string, string> = {};
  const rawHeaders = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  for (const [name, value] of rawHeaders) {
    const key = name.toLowerCase();
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value;
  }
  return { method, path, headers, rawHeaders };
}

/**
 * @returns null when the last chunk has not come yet
 * @throws when these bytes are no chunks
 */
function readChunks(bytes: Buffer): ReadBody | null {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return null;
    const line = bytes.toString('latin1', at, lineEnd);
    if (!/^[0-9a-f]+$/i.test(line)) throw new Error(`This is no size of a chunk: ${JSON.stringify(line)}`);
    const size = Number.parseInt(line, 16);
    const end = lineEnd + 2 + size;
    if (bytes.length < end + 2) return null;
    if (bytes.toString('latin1', end, end + 2) !== '\r\n') throw new Error('A chunk is longer than its size.');
    if (size === 0) return { body: Buffer.concat(parts), end: end + 2 };
    parts.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}
