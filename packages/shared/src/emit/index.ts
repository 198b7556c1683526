export * from './announcer.ts';
export * from './database-clock.ts';
export * from './new-event.ts';
export * from './producer.ts';
export * from './queue-producer.ts';
export * from './write-events.ts';
