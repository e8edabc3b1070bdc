/** Migrations: numbered without a gap, listed with their checksums, never edited. */
import { createHash } from 'node:crypto'
import { basename } from 'node:path'

export interface MigrationFile {
  readonly path: string
  readonly text: string
}

const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.sql$/
const ENTRY = /^([0-9a-f]{64}) {2}(\S+)$/

/**
 * Compares the files with the list, which has one line of SHA-256 and name for each. A released
 * file is in databases and backups under its checksum: only a new file can change the schema.
 */
export function checkMigrations(files: readonly MigrationFile[], list: string): string[] {
  const listed = new Map<string, string>()
  for (const line of list.trimEnd().split('\n')) {
    const [, sha256, name] = ENTRY.exec(line) ?? []
    if (!sha256 || !name) return [`migrations/checksums.txt has a line of another form: ${line}`]
    listed.set(name, sha256)
  }
  const names = files.map(({ path }) => basename(path)).sort()
  const misnumbered = names
    .filter((name, index) => Number(FILE_NAME.exec(name)?.[1]) !== index + 1)
    .slice(0, 1)
    .map((name) => `migrations/${name} breaks the numbers 0001, 0002, … without a gap`)
  const missing = [...listed.keys()]
    .filter((name) => !names.includes(name))
    .map((name) => `migrations/${name} is missing: restore it and add a new migration instead`)
  return [...misnumbered, ...missing, ...files.flatMap((file) => judgeFile(file, listed))]
}

function judgeFile({ path, text }: MigrationFile, listed: ReadonlyMap<string, string>): string[] {
  const name = basename(path)
  const sha256 = createHash('sha256').update(text).digest('hex')
  const known = listed.get(name)
  if (known === sha256) return []
  return known === undefined
    ? [`${path} is not listed: append "${sha256}  ${name}" to migrations/checksums.txt`]
    : [`${path} was edited: restore its text and add a new migration instead`]
}
