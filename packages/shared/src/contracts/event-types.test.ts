import { describe, expect, it } from '@jest/globals';
import {
  type EventType,
  eventPatternSchema,
  eventPatterns,
  eventTypeNames,
  eventTypes,
  patternsMatching,
} from './event-types.ts';

describe('the catalogue of event types', () => {
  it.each(eventTypeNames)('%s has an example that satisfies its schema', (name) => {
    expect(eventTypes[name].data.safeParse(eventTypes[name].example).success).toBe(true);
    expect(eventTypes[name].data.safeParse({}).success).toBe(false);
  });

  it('offers the types of the specification, their families and all for subscription', () => {
    expect(eventPatterns).toEqual([
      'consultation.completed',
      'consultation.failed',
      'batch.completed',
      'batch.failed',
      'batch.partial_failure',
      'consultation.*',
      'batch.*',
      '*',
    ]);
    expect(eventPatternSchema.safeParse('webhook.test').success).toBe(false);
    expect(eventPatternSchema.safeParse('webhook.*').success).toBe(false);
  });

  it('matches a type by its name, its family, or all; the test event by nothing', () => {
    const matching = (type: EventType) => eventPatterns.filter((pattern) => patternsMatching(type).includes(pattern));
    expect(matching('batch.failed')).toEqual(['batch.failed', 'batch.*', '*']);
    expect(matching('consultation.completed')).toEqual(['consultation.completed', 'consultation.*', '*']);
    expect(matching('webhook.test')).toEqual([]);
  });
});
