/** The SECRET_KEY of the embedded default: generated once and kept beside its database. */
import { chmodSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../base/lib/operator-error.ts'
import { makePrivateFolder } from '../../base/lib/secrets/private-files.ts'
import { createSecretBox, createSecretKey, type SecretBox } from '../../base/lib/secrets/secrets.ts'

const FILE = 'secret-key'

/**
 * Returns the box for secrets at rest, from SECRET_KEY or from the file in DATA_DIR, which is
 * created if absent.
 */
export function openSecretBox(config: {
  readonly secretKeys: readonly string[] | undefined
  readonly dataDir: string
}): SecretBox {
  return createSecretBox(config.secretKeys ?? [readOrCreate(config.dataDir)])
}

function readOrCreate(dataDir: string): string {
  const path = join(dataDir, FILE)
  try {
    return read(path) ?? create(dataDir, path)
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new OperatorError(`cannot keep the secret key in ${path}: ${why}`, { cause })
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Linking is atomic: of two processes that start at once, one file is kept and both read it. */
function create(dataDir: string, path: string): string {
  makePrivateFolder(dataDir)
  const making = `${path}.${process.pid}`
  writeFileSync(making, `${createSecretKey()}\n`, { mode: 0o600 })
  chmodSync(making, 0o600)
  try {
    linkSync(making, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(making, { force: true })
  }
  return readFileSync(path, 'utf8').trim()
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
