/** Returns a change for the audit log: the changed members with their new and previous values. */
export function describeChange(
  before: object,
  change: object,
): Readonly<Record<string, unknown>> & { readonly before: object } {
  const changed = Object.entries(before).filter(([name]) => Object.hasOwn(change, name))
  return { ...change, before: Object.fromEntries(changed) }
}
