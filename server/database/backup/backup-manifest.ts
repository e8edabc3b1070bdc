/** What a backup says about itself: enough to judge it whole before anything is touched. */
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
  /** A decimal number: it may be larger than JavaScript's. */
  readonly value: string
  readonly called: boolean
}

export interface Manifest {
  readonly format: typeof FORMAT
  /** The instant whose state this is, by the database's clock. */
  readonly created_at: string
  readonly kind: 'embedded' | 'external'
  readonly server_version: string
  /**
   * The key that opens the secrets in this backup, as a file of it. `elsewhere`: SECRET_KEY was
   * set from outside, and without it they are lost. `none`: no secret was ever sealed.
   */
  readonly secret_key: BackupFile | 'elsewhere' | 'none'
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[]
  readonly tables: readonly BackupTable[]
  readonly sequences: readonly BackupSequence[]
}

/** The file of a table within a backup. Names come from a checked manifest or from the catalog. */
export function tableFile(name: string): string {
  return `${name}.copy`
}

/** Throws DatabaseProblem when this is not a manifest of ours. */
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

/** Names become file names and identifiers: the migrations use no others. */
function isName(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(value)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
