export * from './answer-check.ts';
export * from './document.ts';
