import { fileURLToPath } from 'node:url';

/** The folder of this clone, with a slash at its end. */
export const projectFolder = fileURLToPath(new URL('../../../../', import.meta.url));
