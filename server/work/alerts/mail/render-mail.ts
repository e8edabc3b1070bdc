/** The texts of mail, in the person's language. */
import { isObject } from '../../../base/lib/json.ts'
import { oneLine } from '../../../base/lib/text/one-line.ts'
import type { MailKind, MailText, MailTexts } from './mail-texts.ts'
import { EN } from './texts-en.ts'
import { ZH } from './texts-zh.ts'

/** The members of an alert as its webhook has them, and the account. */
interface MailParams {
  readonly account: string
  readonly at: string
  readonly members: Readonly<Record<string, unknown>>
}

/** Returns subject and text of a mail. Unknown members are empty. */
export function renderMail(
  mail: { readonly kind: MailKind; readonly language: string; readonly params: unknown },
  consoleUrl: string | undefined,
): { readonly subject: string; readonly text: string } {
  const texts = textsOf(mail.language)
  const { account, members } = readParams(mail.params)
  const of = (member: string) => print(members[member])
  return compose(texts.kinds[mail.kind]({ account, of }), texts, consoleUrl)
}

/** Returns subject and text of the mail with which an operator tests the settings. */
export function renderTest(language: string, consoleUrl: string | undefined) {
  const texts = textsOf(language)
  return compose(texts.test, texts, consoleUrl)
}

function textsOf(language: string): MailTexts {
  return language === 'zh' ? ZH : EN
}

function compose(
  { subject, lines }: MailText,
  { more }: MailTexts,
  consoleUrl: string | undefined,
) {
  const all = consoleUrl === undefined ? lines : [...lines, '', `${more} ${consoleUrl}`]
  return { subject: cut(subject), text: `${all.map(cut).join('\n')}\n` }
}

function readParams(params: unknown): MailParams {
  const { account, at, members } = isObject(params) ? params : {}
  return {
    account: print(account),
    at: print(at),
    members: isObject(members) ? members : {},
  }
}

const LINE_LENGTH_MAX = 500

function cut(line: string): string {
  return line.length > LINE_LENGTH_MAX ? `${line.slice(0, LINE_LENGTH_MAX - 1)}…` : line
}

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/

/** Prints a member without anything that could end a line. */
function print(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const time = TIME.exec(text)
  if (time && !Number.isNaN(Date.parse(text))) {
    return `${new Date(text).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  }
  return oneLine(text)
}
