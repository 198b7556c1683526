/** Returns the SQLSTATE (five characters) of a PostgreSQL error, the code of another error, or an empty string. */
export function sqlStateOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** True if `statement_timeout` or a cancel request ended the statement. */
export function isStatementTimeout(error: unknown): boolean {
  return sqlStateOf(error) === '57014';
}
