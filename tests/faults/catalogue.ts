import { endpoints } from './catalogue/endpoints.ts';
import { processes } from './catalogue/processes.ts';
import { stores } from './catalogue/stores.ts';
import { wrong } from './catalogue/wrong.ts';

/** Every promise of the design that is broken on purpose, in the order in which they run. */
export const campaigns = { ...processes, ...stores, ...endpoints, ...wrong } as const;
