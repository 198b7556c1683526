import { endpoints } from './catalogue/endpoints.ts';
import { processes } from './catalogue/processes.ts';
import { stores } from './catalogue/stores.ts';
import { upstreams } from './catalogue/upstreams.ts';
import { wrong } from './catalogue/wrong.ts';

/** The runs of the fault campaign, in their order. */
export const campaigns = { ...processes, ...stores, ...endpoints, ...upstreams, ...wrong } as const;
