/** TLS settings of an address that node-postgres-style clients do not know. */
import { readFileSync } from 'node:fs'
import { DatabaseProblem } from '../problem.ts'

export interface TlsOptions {
  /** The address without the settings that are read here. */
  readonly url: string
  readonly ssl?: {
    readonly ca: string
    readonly rejectUnauthorized: true
    /** verify-ca checks the certificate, not the name. */
    readonly checkServerIdentity?: () => undefined
  }
}

/** Reads `sslrootcert`, a file of certificates as for psql. Throws DatabaseProblem without it. */
export function readTlsOptions(address: string): TlsOptions {
  const url = URL.parse(address)
  const path = url?.searchParams.get('sslrootcert')
  if (!url || !path) return { url: address }
  const mode = url.searchParams.get('sslmode') ?? 'verify-full'
  url.searchParams.delete('sslrootcert')
  if (path === 'system') return { url: url.href }
  const ca = readCertificates(path)
  url.searchParams.delete('sslmode')
  // As libpq: with a root certificate, `require` verifies it too.
  const isNameChecked = mode === 'verify-full'
  const ssl = {
    ca,
    rejectUnauthorized: true,
    ...(isNameChecked ? {} : { checkServerIdentity: () => undefined }),
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
