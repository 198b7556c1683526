import { describe, expect, it } from '@jest/globals';
import { createLogger, scrubSecrets } from './logger.ts';

describe('the logger', () => {
  it('writes one JSON object per line, with the service, the level by name, and no secret wherever it stands', () => {
    const lines: string[] = [];
    const log = createLogger('api', 'info', { write: (line) => lines.push(line) });
    const key = `nwk_${'a1B2'.repeat(12)}`;
    const secret = `whsec_${Buffer.alloc(32, 200).toString('base64')}`;
    log.info({ nested: { text: `Bearer ${key}.` }, err: new Error(`bad ${secret}`) }, `with ${key} and ${secret}`);
    log.debug('not at this level');
    expect(lines).toHaveLength(1);
    const [line = ''] = lines;
    expect(line).not.toContain(key.slice(4));
    expect(line).not.toContain(secret.slice(6));
    expect(JSON.parse(line)).toMatchObject({
      service: 'api',
      level: 'info',
      nested: { text: 'Bearer nwk_[redacted].' },
    });
  });

  it('redacts the value of an Authorization header, in any spelling', () => {
    const token = 'internal-secret_0123456789.~+/==';
    expect(scrubSecrets(`{"authorization":"Bearer ${token}","b":"bearer  ${token}"}`)).toBe(
      '{"authorization":"Bearer [redacted]","b":"bearer  [redacted]"}',
    );
  });

  it('redacts a JWT, such as an identity token', () => {
    const token = 'eyJhbGciOiJFZERTQSIsImtpZCI6ImsxIn0.eyJvcmciOiJvcmdfMDFoIn0.Zk3qv_T-9aBc';
    expect(scrubSecrets(`{"headers":{"x-identity-token":"${token}"},"text":"with ${token}."}`)).toBe(
      '{"headers":{"x-identity-token":"eyJ[redacted]"},"text":"with eyJ[redacted]."}',
    );
    expect(scrubSecrets('eyJ alone, www.eyjafjallajokull.example.com')).toBe(
      'eyJ alone, www.eyjafjallajokull.example.com',
    );
  });

  it('does not redact ids nor prefixes without a secret', () => {
    expect(scrubSecrets('nwk_ keys, whsec_ and evt_01h2e8kqvbfwea724h75qc655w')).toBe(
      'nwk_ keys, whsec_ and evt_01h2e8kqvbfwea724h75qc655w',
    );
  });

  it('writes the plain values of an error, and no objects that are attached to it', () => {
    const lines: string[] = [];
    const log = createLogger('test', 'info', { write: (line: string) => lines.push(line) });
    const client = { secretKey: 4711, connection: { stream: {} } };
    const cause = new Error('the socket closed');
    const error = Object.assign(new Error('terminated', { cause }), { code: '57P01', client, retry: () => undefined });
    log.warn({ err: error }, 'one');
    log.warn({ err: new AggregateError([error], 'nothing listens') }, 'many');
    const [one, many] = lines.map((line) => JSON.parse(line).err);
    expect(Object.keys(one).sort()).toEqual(['code', 'message', 'stack', 'type']);
    expect(one).toMatchObject({ type: 'Error', code: '57P01', message: expect.stringContaining('the socket closed') });
    expect(many).toMatchObject({ type: 'AggregateError', errors: [{ code: '57P01' }] });
    expect(lines.join()).not.toContain('4711');
  });
});
