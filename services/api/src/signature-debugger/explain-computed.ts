import { createHmac, timingSafeEqual } from 'node:crypto';
import { isExactNumber, parseExactJson, type SignatureComputation } from '@enterprise-api/shared/contracts';

export interface Computed {
  secrets: readonly string[];
  id: string;
  timestamp: string;
  body: Buffer;
  /** Null if the body is not stored. */
  storedBody: Buffer | null;
}

/** Finds what a receiver's code signed, with which key and in which encoding, by trying known mistakes. */
export function explainComputed(value: string, computed: Computed): SignatureComputation {
  const given = decode(value.trim());
  if (given === null) return 'unknown';
  const { storedBody, secrets } = computed;
  const bodies = storedBody === null || storedBody.equals(computed.body) ? [] : [storedBody];
  for (const body of [...bodies, computed.body]) {
    const others = reserialized(body);
    for (const secret of secrets) {
      for (const [name, encoding, key, ...signed] of candidates(secret, body, others, computed)) {
        if (encoding !== null && encoding !== given.encoding) continue;
        const mac = createHmac('sha256', key);
        for (const part of signed) mac.update(part);
        if (timingSafeEqual(mac.digest(), given.bytes)) return name;
      }
    }
  }
  return 'unknown';
}

function decode(value: string): { encoding: 'hex' | 'base64'; bytes: Buffer } | null {
  if (/^[0-9a-f]{64}$/.test(value)) return { encoding: 'hex', bytes: Buffer.from(value, 'hex') };
  const base64 = /^(?:v1,)?([A-Za-z0-9+/]{43}=)$/.exec(value)?.[1];
  return base64 === undefined ? null : { encoding: 'base64', bytes: Buffer.from(base64, 'base64') };
}

/** If `encoding` is null, hex and base64 both match. */
type Candidate = [
  name: SignatureComputation,
  encoding: 'hex' | 'base64' | null,
  key: Buffer,
  ...signed: (Buffer | string)[],
];

function* candidates(
  secret: string,
  body: Buffer,
  others: readonly string[],
  { id, timestamp }: Pick<Computed, 'id' | 'timestamp'>,
): Generator<Candidate> {
  const base64 = secret.replace(/^whsec_/, '');
  const whole = Buffer.from(secret);
  const decoded = Buffer.from(base64, 'base64');
  const text = Buffer.from(base64);
  const head = `${id}.${timestamp}.`;
  yield ['correct', 'hex', whole, body];
  yield ['correct', 'base64', decoded, head, body];
  yield ['secret_decoded', 'hex', decoded, body];
  yield ['secret_not_decoded', null, whole, head, body];
  yield ['secret_not_decoded', null, text, head, body];
  yield ['secret_without_prefix', null, text, body];
  yield* withKeys('secret_with_version', keysOf(`v1,${secret}`), [[body], [head, body]]);
  yield* withKeys(
    'secret_with_whitespace_or_quotes',
    wrapped(secret)
      .flatMap(keysOf)
      .filter((key) => !key.equals(decoded)),
    [[body], [head, body]],
  );
  yield ['base64_not_hex', 'base64', whole, body];
  yield ['hex_not_base64', 'hex', decoded, head, body];
  for (const other of others) {
    yield ['body_reserialized', null, whole, other];
    yield ['body_reserialized', null, decoded, head, other];
  }
  yield ['without_timestamp', null, decoded, body];
  yield ['without_timestamp', null, decoded, `${id}.`, body];
}

function* withKeys(
  name: SignatureComputation,
  keys: readonly Buffer[],
  texts: readonly (Buffer | string)[][],
): Generator<Candidate> {
  for (const key of keys) for (const signed of texts) yield [name, null, key, ...signed];
}

/** The keys that a wrong secret gives: its text, and its bytes from a lenient base64 decoder. */
const keysOf = (secret: string) => [Buffer.from(secret), Buffer.from(secret.replace(/^whsec_/, ''), 'base64')];

const wrapped = (secret: string) => [
  `${secret}\n`,
  `${secret}\r\n`,
  `${secret} `,
  ` ${secret}`,
  `"${secret}"`,
  `'${secret}'`,
];

/**
 * The body as programs often write it again after parsing it: compact, indented, sorted, by Python's `json.dumps`. Some
 * parsers round long numbers, others keep every digit.
 */
function reserialized(body: Buffer): string[] {
  try {
    const text = body.toString();
    const values = [JSON.parse(text), parseExactJson(text)];
    const compact = [...new Set([...values, ...values.map(sorted)].map((value) => JSON.stringify(value)))];
    return [...compact, ...values.map((value) => JSON.stringify(value, null, 2)), ...compact.map(pythonJson)];
  } catch {
    return [];
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]));
}

/** JSON on one line, in ASCII, with a space after each comma and colon. */
const pythonJson = (json: string) =>
  json
    .replace(/"(?:[^"\\]|\\.)*"|[,:]|-?\d[^,\]}]*/g, (token) => {
      if (token.startsWith('"')) return token;
      return /[,:]/.test(token) ? `${token} ` : pythonNumber(token);
    })
    .replace(/[\u007f-\uffff]+/g, (text) =>
      Buffer.from(text, 'utf16le').swap16().toString('hex').replace(/..../g, '\\u$&'),
    );

/** Python writes a float below 0.0001 or from 10^16 with an exponent of at least two digits, and integers in full. */
function pythonNumber(json: string): string {
  if (/^-?\d+$/.test(json)) return json;
  const value = Number(json);
  const text = String(value);
  if (/e|^-?0\.0000|^-?\d{17}/.test(text)) return value.toExponential().replace(/(?<=e.)(?=\d$)/, '0');
  return text.includes('.') ? text : `${text}.0`;
}
