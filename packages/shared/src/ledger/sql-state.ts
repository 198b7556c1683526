/** The SQLSTATE that PostgreSQL gave an error, five characters; of any other error its code, or empty text. */
export function sqlStateOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
