const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Draws a horizontal bar of at most `columns` columns, in eighths of a column. Any value above zero is visible. */
export function bar(share: number, columns: number): string {
  const wanted = Math.round(Math.min(1, Math.max(0, share)) * columns * 8);
  const steps = share > 0 ? Math.max(1, wanted) : 0;
  return '█'.repeat(Math.floor(steps / 8)) + (eighths[steps % 8] ?? '');
}
