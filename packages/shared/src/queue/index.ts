export * from './backend.ts';
export * from './enqueue.ts';
export * from './inspect.ts';
export * from './jobs.ts';
export * from './redis-safety.ts';
export * from './retry.ts';
export * from './whole-events.ts';
