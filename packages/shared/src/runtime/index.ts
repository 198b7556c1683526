export * from './clock.ts';
export * from './env.ts';
export * from './ids.ts';
export * from './lifecycle.ts';
export * from './logger.ts';
export * from './metrics.ts';
export * from './settings.ts';
export * from './version.ts';
