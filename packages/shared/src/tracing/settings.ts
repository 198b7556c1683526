import { z } from 'zod';
import { booleanSchema, commaList, integerSchema } from '../runtime/settings.ts';

/**
 * With `parentbased_…`, the service that began a trace decides whether to record it. The rest of the name applies to
 * traces that begin in this service.
 */
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof samplers)[number];

export const tracingSecrets = ['OTEL_EXPORTER_OTLP_HEADERS'];

const endpointForm = 'must be an http:// or https:// URL without credentials, query and fragment';
const endpointSchema = z.string().refine((text) => {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === '');
}, endpointForm);

/** `name=value,name=value` with percent-encoded values, as W3C Baggage defines it. */
function pairsSchema(isName: RegExp, isValue: RegExp) {
  const message = 'must be a comma-separated list of name=value, with percent-encoded values';
  return z.string().transform((text, context): Record<string, string> => {
    const pairs = commaList(text).map((entry) => /^([^=]+?)\s*=\s*(.*)$/.exec(entry));
    const decoded = pairs.map((pair) => [pair?.[1] ?? '', decode(pair?.[2] ?? '')] as const);
    if (decoded.every(([name, value]) => isName.test(name) && value !== undefined && isValue.test(value))) {
      return Object.fromEntries(decoded.map(([name, value]) => [name, value ?? '']));
    }
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const ratioSchema = z
  .string()
  .regex(/^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/, 'must be a number from 0 to 1')
  .transform(Number);

/** The variables of OpenTelemetry that the services support. They export traces by OTLP over HTTP. */
export const tracingSettings = {
  OTEL_SDK_DISABLED: booleanSchema.prefault('false'),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpointSchema.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairsSchema(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, /^[\t -~]*$/).prefault(''),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/protobuf', 'must be http/protobuf').default('http/protobuf'),
  OTEL_EXPORTER_OTLP_TIMEOUT: integerSchema(1, 60 * 1_000).prefault('10000'),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairsSchema(/^\S+$/, /^[\s\S]*$/).prefault(''),
  OTEL_TRACES_SAMPLER: z.enum(samplers, `must be one of ${samplers.join(', ')}`).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: ratioSchema.default(1),
};

export interface TracingConfig {
  url: string;
  /** Headers of each export request. A header may contain a secret. */
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** If undefined, each service uses its own name. */
  serviceName: string | undefined;
  attributes: Readonly<Record<string, string>>;
  sampler: SamplerName;
  /** The fraction of traces to record; only the `…traceidratio` samplers use it. */
  ratio: number;
}

/** @returns undefined if no spans are recorded */
export function tracingConfig(values: z.output<z.ZodObject<typeof tracingSettings>>): TracingConfig | undefined {
  const endpoint = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined || values.OTEL_SDK_DISABLED) return undefined;
  return {
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS,
    timeoutMs: values.OTEL_EXPORTER_OTLP_TIMEOUT,
    serviceName: values.OTEL_SERVICE_NAME,
    attributes: values.OTEL_RESOURCE_ATTRIBUTES,
    sampler: values.OTEL_TRACES_SAMPLER,
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
  };
}
