/** Sends one mail over SMTP. */
import { oneLine } from '../../../base/lib/text/one-line.ts'
import { isMailAddress, type Mailbox, type SmtpServer } from '../../../base/lib/text/smtp-url.ts'

export interface MailSettings {
  readonly server: SmtpServer
  readonly from: Mailbox
}

export interface OutgoingMail {
  /** The same for each attempt: it is the Message-ID, so that a receiver sees a repetition. */
  readonly id: string
  readonly address: string
  readonly language: string
  readonly subject: string
  readonly text: string
}

/**
 * `response`: the server's own words. `isFinal`: it refused this mail permanently, so no retry
 * helps.
 */
export type SendResult =
  | { readonly sent: true; readonly response: string }
  | { readonly sent: false; readonly error: string; readonly isFinal: boolean }

const CONNECT_MS = 10_000
const SILENCE_MS = 20_000
/** Time limit of the whole exchange, even if the server keeps answering. */
export const SEND_MS = 60_000

/** Sends a mail to one address. Never rejects. `totalMs` is for tests. */
export async function sendMail(
  { server, from }: MailSettings,
  mail: OutgoingMail,
  { signal, totalMs = SEND_MS }: { readonly signal?: AbortSignal; readonly totalMs?: number } = {},
): Promise<SendResult> {
  if (!isMailAddress(mail.address)) {
    return { sent: false, error: 'mail cannot be sent to this address', isFinal: true }
  }
  const limit = AbortSignal.timeout(totalMs)
  let transport: Transport | undefined
  try {
    transport = await openTransport(server)
    const { response } = await transport.sendMail({
      from: { name: from.name, address: from.address },
      to: { name: '', address: mail.address },
      envelope: { from: from.address, to: [mail.address] },
      messageId: `<${mail.id}@${domainOf(from.address)}>`,
      subject: oneLine(mail.subject),
      text: mail.text,
      headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': mail.language },
      disableFileAccess: true,
      disableUrlAccess: true,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    return { sent: true, response: shorten(response) }
  } catch (error) {
    return explain(error, limit.aborted)
  } finally {
    transport?.close()
  }
}

/** Connects and signs in without sending. Resolves with what went wrong, or undefined. */
export async function checkMail(server: SmtpServer): Promise<string | undefined> {
  let transport: Transport | undefined
  try {
    transport = await openTransport(server)
    await transport.verify()
    return undefined
  } catch (error) {
    const result = explain(error, false)
    return result.sent ? undefined : result.error
  } finally {
    transport?.close()
  }
}

type Transport = Awaited<ReturnType<typeof openTransport>>

/** Loads the mail client with the first mail: most gateways send none. */
async function openTransport({ host, port, security, user, password }: SmtpServer) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    dnsTimeout: CONNECT_MS,
  })
}

function domainOf(address: string): string {
  return address.slice(address.indexOf('@') + 1)
}

const WORDS_LENGTH_MAX = 300

function shorten(words: unknown): string {
  return oneLine(String(words)).slice(0, WORDS_LENGTH_MAX)
}

/** Advice for an operator, by code and text of the failure. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/^EAUTH /, 'check user and password of SMTP_URL'],
  [/^EENVELOPE Mail command/, 'check MAIL_FROM'],
  [/certificate/, 'for a private certificate authority, set NODE_EXTRA_CA_CERTS'],
]

/**
 * Refusals of the recipient or of the text are final; all others may be temporary. That of the
 * sender concerns every mail, until an operator corrects MAIL_FROM.
 */
function explain(error: unknown, isLate: boolean): SendResult {
  const { code, responseCode, message, command } = error as Readonly<Record<string, unknown>>
  const isRefused =
    typeof responseCode === 'number' && responseCode >= 500 && command !== 'MAIL FROM'
  const isFinal = isRefused && (code === 'EENVELOPE' || code === 'EMESSAGE')
  if (isLate) return { sent: false, error: 'the mail server took too long', isFinal }
  const text = shorten(message ?? error)
  const hint = HINTS.find(([pattern]) => pattern.test(`${code} ${text}`))?.[1]
  return { sent: false, error: hint === undefined ? text : `${text} (${hint})`, isFinal }
}
