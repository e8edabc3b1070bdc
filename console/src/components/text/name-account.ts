/** Names accounts, with the end of the id: two accounts may have the same name. */

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
