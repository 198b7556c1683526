/** A message of protobuf as it is on the wire: the values of each field, in their order, by the field's number. */
export type WireMessage = ReadonlyMap<number, readonly WireValue[]>;

/** A varint or a fixed number, or the bytes of a text, of bytes or of a message. */
type WireValue = bigint | Buffer;

/** Reads a message of which nothing is known but that it is one (protobuf.dev/programming-guides/encoding). */
export function readMessage(bytes: Buffer): WireMessage {
  const fields = new Map<number, WireValue[]>();
  const reader = { bytes, offset: 0 };
  while (reader.offset < bytes.length) {
    const tag = Number(readVarint(reader));
    const values = fields.get(tag >> 3) ?? [];
    values.push(readValue(reader, tag & 7));
    fields.set(tag >> 3, values);
  }
  return fields;
}

interface Reader {
  readonly bytes: Buffer;
  offset: number;
}

function readValue(reader: Reader, wireType: number): WireValue {
  switch (wireType) {
    case 0:
      return readVarint(reader);
    case 1:
      return take(reader, 8).readBigUInt64LE();
    case 2:
      return take(reader, Number(readVarint(reader)));
    case 5:
      return BigInt(take(reader, 4).readUInt32LE());
    default:
      throw new Error(`No such wire type of protobuf: ${wireType}.`);
  }
}

function readVarint(reader: Reader): bigint {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = take(reader, 1).readUInt8();
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

function take(reader: Reader, length: number): Buffer {
  const end = reader.offset + length;
  if (end > reader.bytes.length) throw new Error('A message of protobuf ends before it is whole.');
  const taken = reader.bytes.subarray(reader.offset, end);
  reader.offset = end;
  return taken;
}
