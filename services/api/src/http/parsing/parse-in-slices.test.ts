import { createWebhookSchema, emitBatchSchema, emitEventSchema } from '@enterprise-api/shared/contracts';
import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { testEvent } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { parseInSlices } from './parse-in-slices.ts';
import { parseWith } from './zod-issues.ts';

const organizationId = toPublicId('org', newUuid());
const event = { ...testEvent(organizationId, { id: 'con_1:done' }), occurred_at: '2026-01-01T00:00:00Z' };
const many = (count: number) => Array.from({ length: count }, () => event);

it.each([
  [emitBatchSchema, { events: many(1_000) }],
  [emitBatchSchema, { events: [event, { ...event, type: 'nope' }, { ...event, data: 5 }] }],
  [emitBatchSchema, { events: [{ ...event, extra: 1 }] }],
  [emitBatchSchema, { events: [] }],
  [emitBatchSchema, { events: many(1_001) }],
  [emitBatchSchema, { events: many(2), extra: 1 }],
  [emitBatchSchema, { events: 'x' }],
  [emitBatchSchema, []],
  [emitBatchSchema, null],
  [emitEventSchema, event],
  [emitEventSchema, { ...event, type: 'nope' }],
  [createWebhookSchema, { url: 5 }],
  [
    z.strictObject({ list: z.array(z.coerce.number()) }).refine(({ list }) => list.length < 3),
    { list: ['1', '2', '3'] },
  ],
  [z.strictObject({ list: z.array(z.coerce.number()) }), { list: ['1', '2'] }],
])('parses as without slices', async (schema: z.ZodType, body: unknown) => {
  expect(await parseInSlices(schema, body, 'body')).toEqual(parseWith(schema, body, 'body'));
});

it('lets others have the event loop between the items of a list', async () => {
  const seen: string[] = [];
  const slow = z.number().refine((item) => {
    const end = performance.now() + 3;
    while (performance.now() < end);
    return seen.push(`item ${item}`);
  });
  const others = setInterval(() => seen.push('other'), 1);
  await parseInSlices(z.strictObject({ list: z.array(slow) }), { list: [1, 2, 3, 4, 5] }, 'body');
  clearInterval(others);
  expect(seen.slice(seen.indexOf('item 1'), seen.indexOf('item 5'))).toContain('other');
});
