export * from './open-tracing.ts';
export * from './settings.ts';
export * from './trace-context.ts';
