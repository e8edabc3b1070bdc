/** Names accounts: two may have one name, so the end of the id stands beside it. */

const SHOWN = 4

export interface NamedAccount {
  readonly id: string
  readonly name: string
}

/** `acct_…x7Kd` → `…x7Kd`. */
export function shortId(id: string): string {
  return `…${id.slice(-SHOWN)}`
}

/** `Acme …x7Kd`, for texts; components show AccountName. */
export function nameAccount({ id, name }: NamedAccount): string {
  return `${name} ${shortId(id)}`
}
