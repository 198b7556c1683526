/**
 * A request whose end two servers may see at different places. What follows its head hides a second request, for
 * `smuggledPath` and without credentials, which no upstream may receive.
 */
export interface SmugglingAttempt {
  readonly name: string;
  /** The lines of the head that frame the body, without line ends unless they are the attack. */
  readonly framing: readonly string[];
  /** The bytes behind the head; each character is one byte. */
  readonly body: string;
}

/** Where the hidden request goes. Whoever receives it has been deceived. */
export const smuggledPath = '/v1/consultations/smuggled';

const hidden = `GET ${smuggledPath} HTTP/1.1\r\nHost: x\r\nX-Organization-Id: forged\r\n\r\n`;
const lastChunk = '0\r\n\r\n';
/** To a reader of chunks the body ends before the hidden request; to one of lengths the hidden request is body. */
const endsEarly = `${lastChunk}${hidden}`;
const wholeLength = `Content-Length: ${endsEarly.length}`;
/** To a reader of lengths the body is the first line; to one of chunks it is all of this. */
const chunkedHidden = `${hidden.length.toString(16)}\r\n${hidden}\r\n${lastChunk}`;
const firstLineLength = `Content-Length: ${hidden.length.toString(16).length + 2}`;
/** To a reader of this length the hidden request is the body. */
const hiddenLength = `Content-Length: ${hidden.length}`;
const chunked = 'Transfer-Encoding: chunked';

const attempt = (name: string, framing: readonly string[], body: string): SmugglingAttempt => ({ name, framing, body });

/** Both headers at once, and spellings of `Transfer-Encoding` that one server takes for chunked and another does not. */
const transferEncodings: readonly SmugglingAttempt[] = [
  attempt('Content-Length before Transfer-Encoding', [wholeLength, chunked], endsEarly),
  attempt('Transfer-Encoding before Content-Length', [chunked, wholeLength], endsEarly),
  attempt('a short Content-Length beside chunks', [firstLineLength, chunked], chunkedHidden),
  attempt('a Content-Length of 0 beside chunks', ['Content-Length: 0', chunked], chunkedHidden),
  ...Object.entries({
    'in other case': 'Transfer-Encoding: CHUNKED',
    'before identity': 'Transfer-Encoding: chunked, identity',
    'after identity': 'Transfer-Encoding: identity, chunked',
    'twice in one line': 'Transfer-Encoding: chunked, chunked',
    'in two lines': 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    'in two lines, the other order': 'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
    'of an unknown coding': 'Transfer-Encoding: xchunked',
    'of gzip and chunks': 'Transfer-Encoding: gzip, chunked',
    'with a space before the colon': 'Transfer-Encoding : chunked',
    'with a tab before the value': 'Transfer-Encoding:\tchunked',
    'with a vertical tab before the value': 'Transfer-Encoding: \vchunked',
    'with a NUL behind the value': 'Transfer-Encoding: chunked\0',
    'in quotes': 'Transfer-Encoding: "chunked"',
    'with a parameter': 'Transfer-Encoding: chunked; q=1',
    'with a comma before the value': 'Transfer-Encoding: , chunked',
    'on a folded line': 'Transfer-Encoding:\r\n chunked',
    'behind a folded line': 'X-Padding: a\r\n Transfer-Encoding: chunked',
    'behind a bare line feed': 'X-Padding: a\nTransfer-Encoding: chunked',
    'behind a bare carriage return': 'X-Padding: a\rTransfer-Encoding: chunked',
    'with an underscore': 'Transfer_Encoding: chunked',
    'with a leading space': ' Transfer-Encoding: chunked',
  }).map(([name, line]) => attempt(`Transfer-Encoding ${name}`, [wholeLength, line], endsEarly)),
];

/** Lengths that servers read differently. */
const contentLengths: readonly SmugglingAttempt[] = Object.entries({
  'twice, first the smaller': `Content-Length: 0\r\n${hiddenLength}`,
  'twice, first the larger': `${hiddenLength}\r\nContent-Length: 0`,
  'as a list of different values': `Content-Length: 0, ${hidden.length}`,
  'as a list of equal values': 'Content-Length: 0, 0',
  'with a plus sign': `Content-Length: +${hidden.length}`,
  'with a minus sign': 'Content-Length: -1',
  'in hexadecimal': `Content-Length: 0x${hidden.length.toString(16)}`,
  'with a fraction': `Content-Length: ${hidden.length}.0`,
  'with an exponent': 'Content-Length: 1e2',
  'with an underscore between digits': 'Content-Length: 1_0',
  'with a space between digits': 'Content-Length: 1 0',
  'beyond 64 bits': 'Content-Length: 18446744073709551616',
  'without a value': 'Content-Length:',
  'with a space before the colon': `Content-Length : ${hidden.length}`,
  'with an underscore in the name': `Content_Length: ${hidden.length}`,
  'on a folded line': `Content-Length:\r\n ${hidden.length}`,
}).map(([name, line]) => attempt(`Content-Length ${name}`, [line], hidden));

/** Chunks that servers read differently: the hidden request is data to one, and the next request to another. */
const chunks: readonly SmugglingAttempt[] = Object.entries({
  'a size with a 0x prefix': `0x0\r\n\r\n${hidden}`,
  'a size with a plus sign': `+0\r\n\r\n${hidden}`,
  'a negative size': `-1\r\n\r\n${hidden}`,
  'a size beyond 64 bits': `10000000000000000\r\n\r\n${hidden}`,
  'a size without digits': `\r\n\r\n${hidden}`,
  'a size with a space before it': ` 0\r\n\r\n${hidden}`,
  'a size with an underscore': `0_0\r\n\r\n${hidden}`,
  'an extension that ends in a bare line feed': `0;a\n\r\n${hidden}`,
  'an extension with a bare carriage return': `2;\rab\r\nxx\r\n${lastChunk}${hidden}`,
  'line ends that are bare line feeds': `1\nx\n0\n\n${hidden}`,
  'data longer than its size': `1\r\nxx\r\n${lastChunk}${hidden}`,
  'data without a line end': `1\r\nx0\r\n\r\n${hidden}`,
  'a trailer that is a framing header': `0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  'a trailer that is an identity header': `0\r\nX-Organization-Id: forged\r\n\r\n${hidden}`,
  'a last chunk of many zeros': `${'0'.repeat(20)}\r\n\r\n${hidden}`,
}).map(([name, body]) => attempt(`chunks with ${name}`, [chunked], body));

/** Every way in which we know servers to disagree about where a request ends. */
export const smugglingAttempts: readonly SmugglingAttempt[] = [
  ...transferEncodings,
  ...contentLengths,
  ...chunks,
  attempt('a body without any length', [], hidden),
  attempt(
    'an Expect header beside a length that is too short',
    ['Content-Length: 1', 'Expect: 100-continue'],
    `x${hidden}`,
  ),
  attempt(
    'an upgrade to HTTP/2',
    ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
    hidden,
  ),
  attempt('an upgrade to a WebSocket', ['Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 0'], hidden),
];

/**
 * The bytes of an attempt.
 *
 * @param head the request line and the headers that are no part of the attack, without line ends
 */
export function smugglingRequest(head: readonly string[], { framing, body }: SmugglingAttempt): Buffer {
  return Buffer.from(`${[...head, ...framing].join('\r\n')}\r\n\r\n${body}`, 'latin1');
}
