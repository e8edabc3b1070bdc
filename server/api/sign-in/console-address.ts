/**
 * The address of the console as browsers see it. Links, cookies and passkeys are built from the
 * configured address, never from a request's Host header.
 */
import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../../base/lib/errors.ts'
import { trimEnd } from '../../base/lib/text/trim-end.ts'

export interface ConsoleAddressOptions {
  /** Returns the configured address, or the listening address, which is known after the start. */
  readonly baseUrl: () => string
  /** True if the operator set the address: then only its origin is accepted. */
  readonly isFixed: boolean
}

export interface ConsoleAddress {
  /** Returns the configured address, or the listening address. */
  base(): string
  /** Returns true if cookies can be `__Host-` and Secure. */
  isSecure(): boolean
  /**
   * Returns the relying party of passkeys; undefined for IP addresses, where browsers have none.
   */
  passkeyDomain(): string | undefined
  /** Returns true if a page of this origin is the console. */
  isOwnOrigin(origin: string, request: IncomingMessage): boolean
  /** Returns the origin of the pages on which passkeys are used. */
  passkeyOrigin(): string
  /** Returns the address of a page of the console. */
  page(path: string): string
  /**
   * Returns a link to a page of the console, with the token in the fragment, which is never sent.
   */
  link(page: string, token: string): string
}

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost'])
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[.*\])$/

export function createConsoleAddress({ baseUrl, isFixed }: ConsoleAddressOptions): ConsoleAddress {
  const base = () => new URL(baseUrl())

  /**
   * Browsers support passkeys for host names only: `localhost` stands for this machine's addresses.
   */
  function passkeyDomain(): string | undefined {
    const { hostname } = base()
    if (LOOPBACK.has(hostname)) return 'localhost'
    return ADDRESS.test(hostname) ? undefined : hostname
  }

  function passkeyOrigin(): string {
    const url = base()
    if (LOOPBACK.has(url.hostname)) url.hostname = 'localhost'
    return url.origin
  }

  return {
    base: baseUrl,
    isSecure: () => base().protocol === 'https:',
    passkeyDomain,
    isOwnOrigin(origin, request) {
      if (origin === base().origin) return true
      // Without PUBLIC_URL the gateway does not know its host names, but the origin of a foreign
      // page never matches the Host header.
      return !isFixed && URL.canParse(origin) && new URL(origin).host === request.headers.host
    },
    passkeyOrigin,
    page: (path) => `${trimEnd(baseUrl(), '/')}/console${path}`,
    link: (page, token) => `${trimEnd(baseUrl(), '/')}/console/${page}#token=${token}`,
  }
}

/**
 * Throws 403 for an unsafe request that a page of another origin may have sent. The custom header
 * cannot be sent across origins without a preflight, which is never answered; the browser's own
 * statement of the origin must agree.
 */
export function requireCsrf(request: IncomingMessage, address: ConsoleAddress): void {
  const { origin, 'sec-fetch-site': site, 'x-tributary-console': own } = request.headers
  if (own !== '1') {
    throw refused('send the header x-tributary-console: 1')
  }
  if (site !== undefined && site !== 'same-origin') {
    throw refused('this request comes from another site')
  }
  if (origin !== undefined && !address.isOwnOrigin(origin, request)) {
    throw refused('this request comes from another origin: is PUBLIC_URL right?')
  }
}

function refused(message: string): GatewayError {
  return new GatewayError('forbidden', { message })
}
