import { isIPv4 } from 'node:net';

/** The little of RFC 1035 that a scripted name server needs. */
export const recordTypes = { A: 1, CNAME: 5, AAAA: 28 } as const;
type RecordType = keyof typeof recordTypes;

export type Question = {
  id: number;
  name: string;
  type: number /** As it came, to be repeated in the answer. */;
  raw: Buffer;
};
export type DnsRecord = { name: string; type: RecordType; value: string; ttl: number };
export type ResponseCode = 'NOERROR' | 'SERVFAIL' | 'NXDOMAIN' | 'REFUSED';

const responseCodes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };
const headerBytes = 12;

/** The one question of a query; null for anything else. */
export function readQuestion(message: Buffer): Question | null {
  if (message.length < headerBytes || message.readUInt16BE(4) !== 1) return null;
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  if (end > message.length) return null;
  const name = labels.join('.').toLowerCase();
  return {
    id: message.readUInt16BE(0),
    name,
    type: message.readUInt16BE(at + 1),
    raw: message.subarray(headerBytes, end),
  };
}

export function writeResponse(question: Question, code: ResponseCode, records: readonly DnsRecord[]): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(question.id, 0);
  // A response, authoritative, recursion asked for and available.
  header.writeUInt16BE(0x8580 | responseCodes[code], 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question.raw, ...records.map((record) => writeRecord(record, question))]);
}

/** Says that the answer is too long for a datagram: it is to be asked for over TCP. */
export function writeTruncated(question: Question): Buffer {
  const response = writeResponse(question, 'NOERROR', []);
  response.writeUInt16BE(response.readUInt16BE(2) | 0x0200, 2);
  return response;
}

function writeRecord({ name, type, value, ttl }: DnsRecord, question: Question): Buffer {
  // The name asked for is pointed to, so that many records fit into one datagram.
  const owner = name === question.name ? Buffer.from([0xc0, headerBytes]) : writeName(name);
  const data = type === 'CNAME' ? writeName(value) : writeAddress(value);
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(recordTypes[type], 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt32BE(ttl, 4);
  fields.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fields, data]);
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label, 'latin1')]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function writeAddress(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return Buffer.from([...before, ...zeros, ...after].map((hextet) => hextet.padStart(4, '0')).join(''), 'hex');
}
