/** A JSON log line of a service as plain text: level, message and the error's message. Other lines stay as they are. */
export function readableLogLine(line: string): string {
  const record = parseRecord(line);
  if (record === undefined || typeof record.msg !== 'string') return line;
  const error = record.err as { message?: unknown } | undefined;
  const reason = typeof error?.message === 'string' ? `: ${error.message}` : '';
  return `${typeof record.level === 'string' ? record.level : 'info'}: ${record.msg}${reason}`;
}

function parseRecord(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
