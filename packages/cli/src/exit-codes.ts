/** The meaning of each exit code, which `--help` shows. */
export const exitCodes = {
  success: { code: 0, meaning: 'done; also if the reader of the output stops early (| head)' },
  failure: { code: 1, meaning: 'something unexpected' },
  usage: { code: 2, meaning: 'the command line, a file or a setting is wrong; nothing was sent' },
  authentication: { code: 3, meaning: 'no key, or the API does not accept it (401)' },
  permission: { code: 4, meaning: 'the key, its address or the plan may not do this (403)' },
  notFound: { code: 5, meaning: 'not found (404), or no longer stored (410)' },
  refused: { code: 6, meaning: 'the API does not accept the request as it is (other 4xx)' },
  conflict: { code: 7, meaning: 'the state of the object does not allow it (409, 412)' },
  rateLimited: { code: 8, meaning: 'too many requests (429)' },
  unavailable: { code: 9, meaning: 'the API was not reached, or could not answer (5xx)' },
  interrupted: { code: 130, meaning: 'ended by Ctrl-C (143: by SIGTERM)' },
} as const;

export type Outcome = keyof typeof exitCodes;

/** Maps a status of the API to an outcome. */
export function outcomeOfStatus(status: number): Outcome {
  if (status < 400) return 'success';
  if (status >= 500) return 'unavailable';
  const known: Record<number, Outcome> = {
    401: 'authentication',
    403: 'permission',
    404: 'notFound',
    409: 'conflict',
    410: 'notFound',
    412: 'conflict',
    429: 'rateLimited',
  };
  return known[status] ?? 'refused';
}
