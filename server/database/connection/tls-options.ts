/** TLS settings of a database address that the client does not support by itself. */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { DatabaseProblem } from '../problem.ts'
import { readErrorCode } from '../unavailable.ts'

export interface TlsOptions {
  /** The address without the settings that are read here. */
  readonly url: string
  readonly ssl?: {
    readonly ca: string
    readonly rejectUnauthorized: true
    readonly checkServerIdentity: (name: string, certificate: PeerCertificate) => Error | undefined
  }
}

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

/**
 * Reads `sslrootcert`, a file of certificates as for psql. Throws DatabaseProblem if the file
 * cannot be read, and for an unknown `sslmode`.
 */
export function readTlsOptions(address: string): TlsOptions {
  const url = URL.parse(address)
  const named = url?.searchParams.get('sslmode')
  if (named && !MODES.includes(named)) {
    throw new DatabaseProblem(`the sslmode of DATABASE_URL must be one of ${MODES.join(', ')}`)
  }
  const path = url?.searchParams.get('sslrootcert')
  if (!url || !path) return { url: address }
  const mode = url.searchParams.get('sslmode') ?? 'verify-full'
  url.searchParams.delete('sslrootcert')
  if (path === 'system') return { url: url.href }
  const ca = readCertificates(path)
  url.searchParams.delete('sslmode')
  // As libpq: with a root certificate, `require` verifies it too.
  const isNameChecked = mode === 'verify-full'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const ssl = {
    ca,
    rejectUnauthorized: true,
    // The client gives no name for an IP address, and Node.js would check `localhost` instead.
    checkServerIdentity: (name: string, certificate: PeerCertificate) =>
      isNameChecked ? checkServerIdentity(isIP(host) ? host : name, certificate) : undefined,
  } as const
  return { url: url.href, ...(mode === 'disable' ? {} : { ssl }) }
}

function readCertificates(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new DatabaseProblem(`the sslrootcert of DATABASE_URL cannot be read: ${why}`, cause)
  }
}

const NOT_TRUSTED: ReadonlySet<string> = new Set([
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])
const NO_TLS = /wrong version number|packet length too long|before secure TLS/i

/** Returns what to do about a TLS connection that failed, or undefined for another error. */
export function explainTls(error: unknown): string | undefined {
  const code = readErrorCode(error)
  const message = error instanceof Error ? error.message : ''
  if (NOT_TRUSTED.has(code)) {
    return (
      'the certificate of the database is signed by an authority that is not trusted: name the ' +
      'file of its authority in DATABASE_URL (sslrootcert=/path/ca.pem)'
    )
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const host = error instanceof Error && 'host' in error ? String(error.host) : 'of DATABASE_URL'
    return (
      `the certificate of the database is not for the host ${host}: use a name that it has, or ` +
      'check its authority alone (sslmode=verify-ca)'
    )
  }
  if (code === 'CERT_HAS_EXPIRED') return 'the certificate of the database has expired: renew it'
  if (NO_TLS.test(message)) {
    return 'the database does not offer TLS: switch it on there, or set sslmode=disable'
  }
  return undefined
}
