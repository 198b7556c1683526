export { tearDown as default } from './prepare.ts';
