export { hashEarlierEventKeys as up } from './event-keys.ts';
