/** The manifest of a backup: enough to validate all of it before changing anything. */
import { DatabaseProblem } from '../problem.ts'

export const FORMAT = 1
export const MANIFEST_FILE = 'manifest.json'
export const SECRET_KEY_FILE = 'secret-key'

export interface BackupFile {
  readonly bytes: number
  readonly sha256: string
}

export interface BackupTable extends BackupFile {
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: number
}

export interface BackupSequence {
  readonly name: string
  /** A decimal string, since it may exceed JavaScript's safe integers. */
  readonly value: string
  readonly called: boolean
}

export interface Manifest {
  readonly format: typeof FORMAT
  /** The time of the snapshot, by the database's clock. */
  readonly created_at: string
  readonly kind: 'embedded' | 'external'
  readonly server_version: string
  /**
   * The file with the key that opens the secrets in this backup. `elsewhere`: SECRET_KEY came from
   * the environment, and the secrets cannot be read without it. `none`: no secret was ever sealed.
   */
  readonly secret_key: BackupFile | 'elsewhere' | 'none'
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[]
  readonly tables: readonly BackupTable[]
  readonly sequences: readonly BackupSequence[]
}

/**
 * Returns the file of a table within a backup. Names come from a validated manifest or the catalog.
 */
export function tableFile(name: string): string {
  return `${name}.copy`
}

/** Throws DatabaseProblem if the text is not a valid manifest. */
export function readManifest(text: string): Manifest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new DatabaseProblem(`${MANIFEST_FILE} of the backup is damaged: use another one`, cause)
  }
  const format = isRecord(value) ? value.format : undefined
  if (format !== FORMAT) {
    throw new DatabaseProblem(
      `the backup has format ${String(format)}, this version reads ${FORMAT}: use the version ` +
        'of Tributary that made it',
    )
  }
  if (!isManifest(value)) {
    throw new DatabaseProblem(`${MANIFEST_FILE} of the backup is damaged: use another one`)
  }
  return value
}

function isManifest(value: unknown): value is Manifest {
  return (
    isRecord(value) &&
    typeof value.created_at === 'string' &&
    typeof value.server_version === 'string' &&
    (value.kind === 'embedded' || value.kind === 'external') &&
    (value.secret_key === 'elsewhere' || value.secret_key === 'none' || isFile(value.secret_key)) &&
    isListOf(value.migrations, (item) => isText(item.name) && isText(item.sha256)) &&
    isListOf(
      value.tables,
      (item) =>
        isName(item.name) &&
        Number.isInteger(item.rows) &&
        isFile(item) &&
        Array.isArray(item.columns) &&
        item.columns.every(isName),
    ) &&
    isListOf(
      value.sequences,
      (item) =>
        isName(item.name) &&
        /^-?\d{1,19}$/.test(String(item.value)) &&
        typeof item.called === 'boolean',
    )
  )
}

function isListOf(
  value: unknown,
  test: (item: Readonly<Record<string, unknown>>) => boolean,
): boolean {
  return Array.isArray(value) && value.every((item) => isRecord(item) && test(item))
}

function isFile(value: unknown): boolean {
  return isRecord(value) && Number.isInteger(value.bytes) && isText(value.sha256)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Names become file names and identifiers, so only those that the migrations use are accepted. */
function isName(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(value)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
