/** The parts of e-mail addresses that decide who may sign up, and who gets the grant. */

/** Domains whose mailboxes ignore dots, by the name of the mailbox that they share. */
const WITHOUT_DOTS: ReadonlyMap<string, string> = new Map([
  ['gmail.com', 'gmail.com'],
  ['googlemail.com', 'gmail.com'],
])

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase()
}

/**
 * Returns the mailbox behind an address: in lower case, without what follows a plus, and without
 * the dots that its provider ignores.
 */
export function mailboxOf(email: string): string {
  const local = email.slice(0, email.lastIndexOf('@')).toLowerCase()
  const plus = local.indexOf('+')
  const own = plus > 0 ? local.slice(0, plus) : local
  const domain = domainOf(email)
  const shared = WITHOUT_DOTS.get(domain)
  if (shared === undefined) return `${own}@${domain}`
  return `${own.replaceAll('.', '') || own}@${shared}`
}
