import { describe, expect, it } from '@jest/globals';
import { leaseMs, parseConfig, stopWithinMs } from './config.ts';

const required = {
  DATABASE_URL: 'postgres://localhost/db',
  SECRETS_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};

function problemsOf(environment: Record<string, string>): string[] {
  const parsed = parseConfig({ ...required, ...environment });
  return parsed.ok ? [] : parsed.problems;
}

describe('the settings of the worker', () => {
  it('have their defaults, with a lease of 45 s and a stop of 20 s', () => {
    const parsed = parseConfig(required);
    if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
    const { settings } = parsed;
    expect(settings).toMatchObject({
      WORKER_CONCURRENCY: 100,
      WORKER_BODY_MEMORY: 134_217_728,
      WORKER_START_WITHIN: 10_000,
      WORKER_LEASE_MARGIN: 30_000,
      WEBHOOK_TIMEOUT_MS: 15_000,
      WEBHOOK_ENDPOINT_CONCURRENCY: 20,
      RETENTION_BODIES: 720 * 3_600_000,
      RETENTION_HISTORY: 2_160 * 3_600_000,
      RETENTION_AUDIT: 9_600 * 3_600_000,
    });
    expect([leaseMs(settings), stopWithinMs(settings)]).toEqual([45_000, 20_000]);
  });

  it('refuse what is no setting of OpenTelemetry', () => {
    const wrong = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
      OTEL_TRACES_SAMPLER_ARG: '2',
      WEBHOOK_TRACEPARENT: 'yes',
    };
    expect(problemsOf(wrong).map((problem) => problem.split(':')[0])).toEqual([
      'WEBHOOK_TRACEPARENT',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_TRACES_SAMPLER_ARG',
    ]);
  });

  it('refuse a memory for bodies that is no size, or too small for any event', () => {
    expect(problemsOf({ WORKER_BODY_MEMORY: '1MiB' })).toEqual([]);
    for (const nonsense of ['much', '128', '128MB', '-1MiB', '1023KiB', '0MiB']) {
      expect(problemsOf({ WORKER_BODY_MEMORY: nonsense })).toEqual([
        expect.stringMatching(/^WORKER_BODY_MEMORY: must be/),
      ]);
    }
  });

  it('refuse a start so late that an attempt with its full timeout could end after its lease', () => {
    expect(problemsOf({ WORKER_START_WITHIN: '15s' })).toEqual([]);
    expect(problemsOf({ WORKER_START_WITHIN: '2s', WORKER_LEASE_MARGIN: '4s' })).toEqual([]);
    const tooLate = [expect.stringMatching(/^WORKER_START_WITHIN: must be at most half of WORKER_LEASE_MARGIN/)];
    expect(problemsOf({ WORKER_START_WITHIN: '16s' })).toEqual(tooLate);
    expect(problemsOf({ WORKER_LEASE_MARGIN: '19s' })).toEqual(tooLate);
  });

  it('refuse bodies that are kept for longer than the history; 0 is for ever', () => {
    const tooLong = [expect.stringMatching(/^RETENTION_BODIES: must not exceed RETENTION_HISTORY/)];
    expect(problemsOf({ RETENTION_BODIES: '24h', RETENTION_HISTORY: '24h' })).toEqual([]);
    expect(problemsOf({ RETENTION_BODIES: '25h', RETENTION_HISTORY: '24h' })).toEqual(tooLong);
    expect(problemsOf({ RETENTION_BODIES: '0' })).toEqual(tooLong);
    expect(problemsOf({ RETENTION_BODIES: '0', RETENTION_HISTORY: '0h', RETENTION_AUDIT: '0' })).toEqual([]);
    expect(problemsOf({ RETENTION_AUDIT: '400d' })).toEqual([expect.stringMatching(/^RETENTION_AUDIT: must be/)]);
  });
});
