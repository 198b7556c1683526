import { createWebhookSchema, emitBatchSchema, listDeliveriesQuerySchema } from '@enterprise-api/shared/contracts';
import { describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import { invalid } from '../problem.ts';
import { parseWith } from './read-input.ts';
import { formatPath } from './zod-issues.ts';

function problemsOf(schema: z.ZodType, input: unknown, location: 'body' | 'query' = 'body') {
  const parsed = parseWith(schema, input, location);
  return parsed.ok
    ? []
    : (invalid(parsed.details).details ?? []).map(({ path, code, message }) => [path, code, message]);
}

describe('the details of an invalid body', () => {
  it('name each invalid place once', () => {
    expect(
      problemsOf(createWebhookSchema, { url: 5, events: ['nope', '*'], description: 'x'.repeat(501), a: 1, b: 2 }),
    ).toEqual([
      ['url', 'invalid_type', 'must be a string'],
      ['events[0]', 'invalid_value', expect.stringMatching(/^must be one of: consultation\.completed, /)],
      ['description', 'too_big', 'must have at most 500 characters'],
      ['a', 'unknown_field', 'is not a known field'],
      ['b', 'unknown_field', 'is not a known field'],
    ]);
  });

  it.each([
    [undefined, [['', 'required', 'is required']]],
    [[], [['', 'invalid_type', 'must be an object']]],
    [null, [['', 'invalid_type', 'must be an object']]],
    [
      {},
      [
        ['url', 'required', 'is required'],
        ['events', 'required', 'is required'],
      ],
    ],
    [
      { url: null, events: [] },
      [
        ['url', 'invalid_type', 'must be a string'],
        ['events', 'too_small', 'must have at least 1 item'],
      ],
    ],
    [{ url: 'u', events: ['*', '*'] }, [['events', 'invalid_value', 'must not name an event twice']]],
    [{ url: 'u', events: ['*'], enabled: 'yes' }, [['enabled', 'invalid_type', 'must be true or false']]],
    [
      { url: 'u', events: ['*'], description: 'a\0' },
      [['description', 'invalid_value', 'must not contain NUL or lone surrogates']],
    ],
  ])('%j', (input, expected) => expect(problemsOf(createWebhookSchema, input)).toEqual(expected));

  it('name the missing data of an event type, in a batch', () => {
    const event = { organization_id: 'org_01jd6kz5r8e2v9qxm3c7t4b0na', type: 'batch.failed', data: {} };
    expect(problemsOf(emitBatchSchema, { events: [{ ...event, data: { batch_id: 'b' } }, event] })).toEqual([
      ['events[1].data.batch_id', 'invalid_value', 'must be a string of 1 to 200 characters'],
    ]);
  });

  it('never contain messages of the validation library', () => {
    for (const input of [
      undefined,
      1,
      {},
      { events: 1 },
      { events: [{}] },
      { events: [{ type: 1, data: [], id: '', occurred_at: 'x' }] },
    ]) {
      for (const [, , message] of problemsOf(emitBatchSchema, input))
        expect(message).not.toMatch(/invalid|expected|received|zod/i);
    }
  });

  it('are at most fifty', () => {
    const unknown = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`f${index}`, 1]));
    expect(problemsOf(createWebhookSchema, { url: 'u', events: ['*'], ...unknown })).toHaveLength(50);
  });
});

describe('the details of an invalid query', () => {
  it.each([
    [{ limit: '0' }, [['limit', 'invalid_value', 'must be a whole number from 1 to 100']]],
    [{ limit: '1e1' }, [['limit', 'invalid_format', 'must be a whole number from 1 to 100']]],
    [{ limit: ['1', '2'] }, [['limit', 'repeated', 'must be given once']]],
    [{ webhook_id: ['a', 'b'] }, [['webhook_id', 'repeated', 'must be given once']]],
    [{ since: ['a', 'b'] }, [['since', 'repeated', 'must be given once']]],
    [
      { status: ['failed', 'x'] },
      [['status[1]', 'invalid_value', 'must be one of: pending, succeeded, failed, canceled']],
    ],
    [{ since: 'yesterday' }, [['since', 'invalid_format', 'must be an RFC 3339 date and time']]],
    [{ nope: '1' }, [['nope', 'unknown_parameter', 'is not a known parameter']]],
  ])('%j', (input, expected) => expect(problemsOf(listDeliveriesQuerySchema, input, 'query')).toEqual(expected));

  it('are empty for a repeatable filter given once or several times', () => {
    expect(
      problemsOf(
        listDeliveriesQuerySchema,
        { status: 'failed', event_type: ['batch.failed', 'webhook.test'] },
        'query',
      ),
    ).toEqual([]);
  });
});

describe('a path', () => {
  it.each([
    [[], ''],
    [['events', 1], 'events[1]'],
    [['events', 3, 'data', 'x'], 'events[3].data.x'],
  ])('%j: %s', (path, text) => expect(formatPath(path)).toBe(text));
});
