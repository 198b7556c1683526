import type { AuditChanges } from '@enterprise-api/shared/contracts';

export interface FieldChanges {
  changedFields: string[];
  changes: AuditChanges;
}

export const noFieldChanges: FieldChanges = { changedFields: [], changes: {} };

/**
 * Lists the fields that differ between two states, with their values. For a new object, lists the fields with a value.
 *
 * @param names fields that hold no secret
 * @param mask removes possible secrets from a value
 */
export function fieldChanges<Shown extends object>(
  before: Shown | null,
  after: Shown,
  names: readonly (keyof Shown & string)[],
  mask: (name: string, value: AuditValue) => AuditValue = (_, value) => value,
): FieldChanges {
  const changes: AuditChanges = {};
  for (const name of names) {
    const [from, to] = [(before?.[name] ?? null) as AuditValue, (after[name] ?? null) as AuditValue];
    if (JSON.stringify(from) !== JSON.stringify(to)) changes[name] = { from: mask(name, from), to: mask(name, to) };
  }
  return { changedFields: Object.keys(changes), changes };
}

export type AuditValue = AuditChanges[string]['from'];
