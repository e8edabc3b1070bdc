/** Parses the mail server and the sender from SMTP_URL and MAIL_FROM. */
import { oneLine } from './one-line.ts'

export interface SmtpServer {
  readonly host: string
  readonly port: number
  /** `tls` from the first byte; `starttls`: nothing is sent before it; `none`: in clear text. */
  readonly security: 'tls' | 'starttls' | 'none'
  readonly user?: string
  readonly password?: string
}

export interface Mailbox {
  readonly name: string
  readonly address: string
}

const EXAMPLE = 'smtps://user:password@smtp.example.com:465'
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Returns the server, or the reason why the address is invalid. */
export function readSmtpUrl(text: string): SmtpServer | { readonly problem: string } {
  const url = URL.parse(text)
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    return { problem: `must be an address such as ${EXAMPLE}` }
  }
  const { hostname, port, username, password, searchParams, protocol } = url
  if (!/^\/?$/.test(url.pathname) || url.hash !== '') {
    return { problem: 'must have no path: only a server, a port, and a user' }
  }
  const isTls = protocol === 'smtps:'
  const isOff = searchParams.get('starttls') === 'off'
  const unknown = [...searchParams].filter(
    ([name, value]) => isTls || name !== 'starttls' || !/^(?:off|required)$/.test(value),
  )
  if (unknown.length > 0) {
    return { problem: 'may only have ?starttls=off, of smtp:// to a server without TLS' }
  }
  if (isOff && username !== '' && !LOOPBACK.test(hostname)) {
    return { problem: 'would send the password in clear text: remove starttls=off' }
  }
  const credentials = username === '' ? {} : readCredentials(username, password)
  if (!credentials) return { problem: 'has a user or password that is not URL-encoded' }
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isTls ? 465 : 587) : Number(port),
    security: isTls ? 'tls' : isOff ? 'none' : 'starttls',
    ...credentials,
  }
}

function readCredentials(user: string, password: string) {
  try {
    return { user: decodeURIComponent(user), password: decodeURIComponent(password) }
  } catch {
    return undefined
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it refuses.
const ADDRESS = /^[^\s@<>()[\]\\,;:"\u0000-\u001f\u007f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,188})$/

/** Returns true for exactly one mail address without a display name. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && ADDRESS.test(text)
}

/** Reads `Name <address>` or a bare address. Returns the reason for refusing anything else. */
export function readMailbox(text: string): Mailbox | { readonly problem: string } {
  const named = /^([^<>]{0,200})<([^<>]{3,254})>$/.exec(text.trim())
  const [name, address] = named ? [named[1] ?? '', named[2] ?? ''] : ['', text.trim()]
  if (!isMailAddress(address) || oneLine(name) !== name) {
    return { problem: 'must be an address such as Tributary <gateway@example.com>' }
  }
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address }
}
