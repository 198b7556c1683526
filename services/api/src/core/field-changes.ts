import type { AuditChanges } from '@enterprise-api/shared/contracts';

/** The fields that an action changed, for the audit log. */
export interface FieldChanges {
  changedFields: string[];
  changes: AuditChanges;
}

/** Of an action that changes no field, such as a deletion. */
export const noFieldChanges: FieldChanges = { changedFields: [], changes: {} };

/**
 * The fields that differ between two states of an object, with their values; of a new object, those that have a value.
 *
 * @param names fields that hold no secret
 * @param mask removes from a value what may be secret
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
