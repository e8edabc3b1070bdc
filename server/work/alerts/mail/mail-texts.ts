/** The texts of mail in one language. */
import type { AlertKind } from '../alert.ts'

/** The subject of a mail: an alert, or a link that works once. */
export type MailKind = AlertKind | LinkKind
export type LinkKind = 'invitation' | 'sign_up'

/** True for the first call that a budget refused while it still had room for a smaller one. */
export function isRefusal(of: Words['of']): boolean {
  return of('threshold') === '100' && Number(of('spent')) < Number(of('amount'))
}

/** The values that a text names: each member of its alert as one line. */
export interface Words {
  readonly account: string
  of(member: string): string
}

export interface MailText {
  readonly subject: string
  readonly lines: readonly string[]
}

export interface MailTexts {
  readonly kinds: Readonly<Record<MailKind, (words: Words) => MailText>>
  readonly test: MailText
  /** Before the console's address. */
  readonly more: string
}
