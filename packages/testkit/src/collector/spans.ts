import { readMessage, type WireMessage } from './protobuf.ts';

/** A span as a collector receives it. */
export interface ReceivedSpan {
  /** `service.name` of the process that it comes from. */
  service: string;
  /** The attributes of that process. */
  resource: Readonly<Record<string, unknown>>;
  traceId: string;
  spanId: string;
  /** Of the span above it; empty where a trace begins. */
  parentSpanId: string;
  name: string;
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  startedAtMs: number;
  endedAtMs: number;
  attributes: Readonly<Record<string, unknown>>;
  links: readonly { traceId: string; spanId: string }[];
  isError: boolean;
}

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const errorStatus = 2n;

/** The spans of an ExportTraceServiceRequest (opentelemetry-proto, collector/trace/v1). */
export function readSpans(body: Buffer): ReceivedSpan[] {
  return messages(readMessage(body), 1).flatMap((resourceSpans) => {
    const resource = attributesOf(messages(resourceSpans, 1).flatMap((each) => messages(each, 1)));
    const spans = messages(resourceSpans, 2).flatMap((scopeSpans) => messages(scopeSpans, 2));
    return spans.map((span) => toSpan(span, resource));
  });
}

function toSpan(span: WireMessage, resource: Record<string, unknown>): ReceivedSpan {
  const status = messages(span, 15)[0];
  return {
    service: String(resource['service.name']),
    resource,
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentSpanId: hex(span, 4),
    name: text(span, 5),
    kind: kinds[Number(number(span, 6))] ?? 'internal',
    startedAtMs: Number(number(span, 7)) / 1e6,
    endedAtMs: Number(number(span, 8)) / 1e6,
    attributes: attributesOf(messages(span, 9)),
    links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    isError: status !== undefined && number(status, 3) === errorStatus,
  };
}

function attributesOf(pairs: readonly WireMessage[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map((pair) => [text(pair, 1), anyValue(messages(pair, 2)[0] ?? new Map())]));
}

function anyValue(any: WireMessage): unknown {
  if (any.has(1)) return text(any, 1);
  if (any.has(2)) return number(any, 2) === 1n;
  if (any.has(3)) return Number(BigInt.asIntN(64, number(any, 3)));
  if (any.has(4)) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(number(any, 4));
    return bytes.readDoubleLE();
  }
  return undefined;
}

function messages(message: WireMessage, field: number): WireMessage[] {
  return buffers(message, field).map(readMessage);
}

function text(message: WireMessage, field: number): string {
  return buffers(message, field)[0]?.toString() ?? '';
}

function hex(message: WireMessage, field: number): string {
  return buffers(message, field)[0]?.toString('hex') ?? '';
}

function number(message: WireMessage, field: number): bigint {
  const value = message.get(field)?.[0];
  return typeof value === 'bigint' ? value : 0n;
}

function buffers(message: WireMessage, field: number): Buffer[] {
  return (message.get(field) ?? []).filter((value) => Buffer.isBuffer(value));
}
