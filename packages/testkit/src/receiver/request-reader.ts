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

const headEnd = Buffer.from('\r\n\r\n');

/**
 * Reads HTTP/1.1 requests with a Content-Length out of a byte stream. Independent of the parser of the programs under
 * test.
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
    const length = Number(head?.headers['content-length'] ?? 0);
    if (head === null || this.#bytes.length < length) return null;
    const body = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    this.#head = null;
    return { ...head, body };
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
