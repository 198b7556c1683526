import { describe, expect, it } from '@jest/globals';
import {
  type EventType,
  type EventTypeDefinition,
  emittableEventTypeNames,
  eventPatternSchema,
  eventPatterns,
  eventPatternsFor,
  eventTypeNames,
  eventTypes,
} from './event-types.ts';

describe('the catalogue of event types', () => {
  it.each(eventTypeNames)('%s has an example that satisfies its schema', (name) => {
    expect(eventTypes[name].data.safeParse(eventTypes[name].example).success).toBe(true);
    expect(eventTypes[name].data.safeParse({}).success).toBe(false);
  });

  it.each(emittableEventTypeNames)('%s requires the field that names its subject', (name) => {
    const { subject, data, example }: EventTypeDefinition = eventTypes[name];
    expect(data.safeParse({ ...example, [String(subject)]: undefined }).success).toBe(false);
  });

  it('offers every subscribable type, their families and `*` for subscription', () => {
    expect(eventPatterns).toEqual([
      'consultation.completed',
      'consultation.failed',
      'batch.completed',
      'batch.failed',
      'batch.partial_failure',
      'webhook.failing',
      'webhook.disabled',
      'webhook.recovered',
      'api_key.expiring',
      'api_key.expired',
      'replay.finished',
      'consultation.*',
      'batch.*',
      '*',
    ]);
    expect(eventPatternSchema.safeParse('webhook.test').success).toBe(false);
    expect(eventPatternSchema.safeParse('webhook.*').success).toBe(false);
  });

  it('matches a type by its name, its family, and `*`; the test event by nothing', () => {
    const matching = (type: EventType) => eventPatterns.filter((pattern) => eventPatternsFor(type).includes(pattern));
    expect(matching('batch.failed')).toEqual(['batch.failed', 'batch.*', '*']);
    expect(matching('consultation.completed')).toEqual(['consultation.completed', 'consultation.*', '*']);
    expect(matching('webhook.test')).toEqual([]);
    expect(eventPatternsFor('webhook.failing')).toEqual(['webhook.failing']);
  });

  it('limits `*` to consultations and batches when families are added', () => {
    const starred = eventTypeNames
      .filter((type) => eventPatternsFor(type).includes('*'))
      .map((type) => type.split('.')[0]);
    expect(new Set(starred)).toEqual(new Set(['consultation', 'batch']));
  });
});
