export * from './connect.ts';
export * from './subscriber.ts';
