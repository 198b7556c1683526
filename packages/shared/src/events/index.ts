export * from './batched-producer.ts';
export * from './producer.ts';
export * from './queue-producer.ts';
export * from './test-event.ts';
export * from './write-events.ts';
