/** The SQLSTATE that PostgreSQL gave an error, five characters; of any other error its code, or empty text. */
export function sqlStateOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Whether a statement was ended by `statement_timeout`, or by somebody who canceled it. */
export function isStatementTimeout(error: unknown): boolean {
  return sqlStateOf(error) === '57014';
}
