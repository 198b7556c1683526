/** Returns PostgreSQL's five-character SQLSTATE, another error's code, or empty text. */
export function sqlStateOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** True if `statement_timeout` or somebody canceled the statement. */
export function isStatementTimeout(error: unknown): boolean {
  return sqlStateOf(error) === '57014';
}
