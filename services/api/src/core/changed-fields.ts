/** Names of the fields that differ between two states of an object; of a new object, those that have a value. */
export function changedFields<Shown extends object>(
  before: Shown | null,
  after: Shown,
  names: readonly (keyof Shown & string)[],
): string[] {
  return names.filter((name) => JSON.stringify(before?.[name] ?? null) !== JSON.stringify(after[name] ?? null));
}
