import protobuf from 'protobufjs';

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

/** The fields of opentelemetry-proto that tests read (collector/trace/v1, trace/v1, common/v1, resource/v1). */
const request = protobuf
  .parse(`
    syntax = "proto3";
    message Request { repeated ResourceSpans resource_spans = 1; }
    message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
    message Resource { repeated KeyValue attributes = 1; }
    message ScopeSpans { repeated Span spans = 2; }
    message Span {
      bytes trace_id = 1;
      bytes span_id = 2;
      bytes parent_span_id = 4;
      string name = 5;
      Kind kind = 6;
      fixed64 start_time_unix_nano = 7;
      fixed64 end_time_unix_nano = 8;
      repeated KeyValue attributes = 9;
      repeated Link links = 13;
      Status status = 15;
    }
    enum Kind { unspecified = 0; internal = 1; server = 2; client = 3; producer = 4; consumer = 5; }
    message Link { bytes trace_id = 1; bytes span_id = 2; }
    message Status { Code code = 3; }
    enum Code { unset = 0; ok = 1; error = 2; }
    message KeyValue { string key = 1; AnyValue value = 2; }
    message AnyValue {
      oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; }
    }`)
  .root.lookupType('Request');

/** The spans of an ExportTraceServiceRequest. */
export function readSpans(body: Buffer): ReceivedSpan[] {
  const options = { defaults: true, enums: String, longs: Number, oneofs: true };
  const { resourceSpans } = request.toObject(request.decode(body), options);
  return resourceSpans.flatMap(({ resource, scopeSpans }: Message) => {
    const attributes = attributesOf(resource.attributes);
    const spans: Message[] = scopeSpans.flatMap(({ spans }: Message) => spans);
    return spans.map((span) => toSpan(span, attributes));
  });
}

type Message = ReturnType<typeof request.toObject>;

function toSpan(span: Message, resource: Record<string, unknown>): ReceivedSpan {
  return {
    service: String(resource['service.name']),
    resource,
    traceId: span.traceId.toString('hex'),
    spanId: span.spanId.toString('hex'),
    parentSpanId: span.parentSpanId.toString('hex'),
    name: span.name,
    kind: span.kind,
    startedAtMs: span.startTimeUnixNano / 1e6,
    endedAtMs: span.endTimeUnixNano / 1e6,
    attributes: attributesOf(span.attributes),
    links: span.links.map((link: Message) => ({
      traceId: link.traceId.toString('hex'),
      spanId: link.spanId.toString('hex'),
    })),
    isError: span.status?.code === 'error',
  };
}

function attributesOf(pairs: readonly Message[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value?.[value.value]]));
}
