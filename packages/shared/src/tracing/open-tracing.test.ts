import { until } from '@enterprise-api/testkit';
import { type Collector, startCollector } from '@enterprise-api/testkit/collector';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createLogger } from '../runtime/logger.ts';
import { createMetrics, type Registry } from '../runtime/metrics.ts';
import type { Tracing } from './open-tracing.ts';
import { openTracing } from './open-tracing.ts';
import { tracingConfig, tracingSettings } from './settings.ts';
import { isSampled } from './trace-context.ts';

const parsed = (environment: Record<string, string>) => z.object(tracingSettings).safeParse(environment);
const configOf = (environment: Record<string, string>) => {
  const { success, data } = parsed(environment);
  return success ? tracingConfig(data) : undefined;
};

describe('the settings of tracing', () => {
  test('turn it on with an endpoint, and off again', () => {
    expect(configOf({})).toBeUndefined();
    expect(configOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/', OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
    expect(configOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/otlp/' })).toMatchObject({
      url: 'http://c:4318/otlp/v1/traces',
      headers: {},
      timeoutMs: 10_000,
      sampler: 'parentbased_always_on',
    });
  });

  test('are lists of pairs with encoded values', () => {
    const lists = {
      OTEL_EXPORTER_OTLP_HEADERS: 'a=b%20c, x-key = 1=2,',
      OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=p%C3%A9',
    };
    expect(configOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c', ...lists })).toMatchObject({
      headers: { a: 'b c', 'x-key': '1=2' },
      attributes: { 'k8s.pod.name': 'pé' },
    });
  });

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:secret@collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318/?key=secret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=c'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%0d%0ax: y'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '0'],
    ['OTEL_RESOURCE_ATTRIBUTES', '=x'],
    ['OTEL_SDK_DISABLED', 'yes'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
  ])('do not take %s=%s', (name, value) => {
    const { error } = parsed({ [name]: value });
    expect(error?.issues.map(({ path }) => path)).toEqual([[name]]);
    expect(error?.issues[0]?.message).not.toContain('secret');
  });
});

describe('spans', () => {
  let collector: Collector;
  let registry: Registry;
  let lines: string[];
  let tracing: Tracing;
  const open = async (settings: Record<string, string> = {}) => {
    const config = configOf({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...settings });
    lines = [];
    const log = createLogger('test', 'info', { write: (line) => void lines.push(line) });
    const opened = await openTracing(config, { serviceName: 'test', log, registry });
    if (opened === undefined) throw new Error('Nothing is recorded.');
    tracing = opened;
  };
  const counted = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values ?? [];

  beforeEach(async () => {
    collector = await startCollector();
    registry = createMetrics('test', undefined);
  });
  afterEach(async () => {
    await tracing.stop();
    await collector[Symbol.asyncDispose]();
  });

  test('are sent within seconds, counted, and only once they have ended', async () => {
    await open();
    tracing.start('never ended', { kind: 'client' });
    tracing.start('ended', { kind: 'client', attributes: { one: 1, half: 0.5, yes: true, none: undefined } }).end();
    const span = await collector.untilSpan('the span', ({ name }) => name === 'ended');
    expect(span.attributes).toEqual({ one: 1, half: 0.5, yes: true });
    expect(collector.spans).toHaveLength(1);
    await until('the count', () => counted('trace_spans_exported_total'), { holds: ([count]) => count?.value === 1 });
    expect(lines).toEqual([]);
  });

  test('are dropped and counted while the collector hangs, and no more than some thousands wait', async () => {
    collector.answer('hangs');
    await open({ OTEL_EXPORTER_OTLP_TIMEOUT: '2000' });
    for (let index = 0; index < 6_000; index += 1) tracing.start('one of many', { kind: 'client' }).end();
    const full = (await counted('trace_spans_dropped_total')).find(({ labels }) => labels.reason === 'queue_full');
    expect(full?.value).toBeGreaterThanOrEqual(6_000 - 4_096 - 512);
    await tracing.stop();
    const dropped = await counted('trace_spans_dropped_total');
    // What is under way when the process stops may have arrived.
    const sum = dropped.reduce((all, { value }) => all + value, 0);
    expect(sum).toBeGreaterThanOrEqual(6_000 - 512);
    expect(lines).toHaveLength(1);
  });

  test('are all sent at a stop', async () => {
    await open();
    for (let index = 0; index < 1_500; index += 1) tracing.start('one of many', { kind: 'client' }).end();
    await tracing.stop();
    expect(collector.spans).toHaveLength(1_500);
  });

  test.each([
    ['always_on', '1', true, true],
    ['always_off', '1', false, false],
    ['traceidratio', '0', false, false],
    ['parentbased_always_on', '1', true, false],
    ['parentbased_always_off', '1', false, false],
    ['parentbased_traceidratio', '1', true, false],
  ])(
    'are recorded as %s (%s) says, where a trace begins and below a span that is not',
    async (sampler, ratio, root, below) => {
      await open({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio });
      const unrecorded = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
      const begun = tracing.start('root', { kind: 'server' });
      const child = tracing.start('below', { kind: 'server', parent: unrecorded });
      expect([isSampled(begun.traceparent), isSampled(child.traceparent)]).toEqual([root, below]);
      expect(child.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    },
  );
});
