export * from './caller.ts';
export * from './errors.ts';
