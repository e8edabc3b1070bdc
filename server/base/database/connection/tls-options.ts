/** The TLS settings of a database address. */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { DatabaseProblem } from '../problem.ts'
import { readErrorCode } from '../unavailable.ts'
import type { TlsDemand } from './secure.ts'

export interface TlsOptions {
  /** The address without the settings that are read here. */
  readonly url: string
  /** Undefined without TLS. */
  readonly tls: TlsDemand | undefined
}

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']
/** Other names of modes. */
const ALIASES: Readonly<Record<string, string>> = { true: 'verify-full', false: 'disable' }
const SETTINGS = ['sslmode', 'ssl', 'sslrootcert', 'sslnegotiation']

/**
 * Reads the TLS settings of an address, as for psql: `sslrootcert` is a file of certificates.
 * Throws DatabaseProblem if the file cannot be read, and for an unknown `sslmode`.
 */
export function readTlsOptions(address: string): TlsOptions {
  const url = URL.parse(address)
  if (!url) return { url: address, tls: undefined }
  const [sslmode, ssl, path, negotiation] = SETTINGS.map((name) => url.searchParams.get(name))
  for (const name of SETTINGS) url.searchParams.delete(name)
  const named = sslmode || ssl
  const mode = ALIASES[named ?? ''] ?? (named || (path ? 'verify-full' : 'disable'))
  if (!MODES.includes(mode)) {
    throw new DatabaseProblem(`the sslmode of DATABASE_URL must be one of ${MODES.join(', ')}`)
  }
  if (mode === 'disable') return { url: url.href, tls: undefined }
  const isDirect = negotiation === 'direct'
  const isOptional = mode === 'prefer'
  return { url: url.href, tls: { isOptional, isDirect, options: verify(url, mode, path) } }
}

/** As libpq: with a root certificate, `require` verifies it too. */
function verify({ hostname }: URL, mode: string, path: string | null | undefined) {
  const isVerified = mode.startsWith('verify')
  if (path === 'system') return { rejectUnauthorized: true }
  if (!path) return { rejectUnauthorized: isVerified }
  const host = hostname.replace(/^\[|\]$/g, '')
  return {
    ca: readCertificates(path),
    rejectUnauthorized: true,
    // For an IP address, which has no name, Node.js would otherwise check `localhost`.
    checkServerIdentity: (name: string, certificate: PeerCertificate) =>
      mode === 'verify-full'
        ? checkServerIdentity(isIP(host) ? host : name, certificate)
        : undefined,
  }
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

/** Returns what to do about a TLS connection that failed, or undefined for another error. */
export function explainTls(error: unknown): string | undefined {
  const code = readErrorCode(error)
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
  if (code === 'NO_TLS') {
    return 'the database does not offer TLS: switch it on there, or set sslmode=disable'
  }
  return undefined
}
