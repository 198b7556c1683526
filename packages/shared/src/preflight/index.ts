export * from './preflight.ts';
