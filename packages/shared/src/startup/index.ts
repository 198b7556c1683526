export * from './check-surroundings.ts';
