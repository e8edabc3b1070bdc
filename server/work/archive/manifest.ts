/** The manifest of an archive: its objects and their sums, readable without the database. */
import { Readable } from 'node:stream'
import type { Sql } from 'postgres'
import { OperatorError } from '../../base/lib/operator-error.ts'
import { createTotals } from '../../money/ledger/books/totals.ts'
import type { Blobs } from '../assets/storage/blobs.ts'
import { type ObjectRow, type SumRow, selectObjects, selectSums } from './archive-store.ts'
import { type ReadContent, readBytes, sha256Of } from './objects.ts'
import type { ArchivePeriod } from './periods.ts'

type NamedPeriod = Pick<ArchivePeriod, 'kind' | 'name'>

/** Nano-units as decimal integers, by currency and ledger account. */
type Sums = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface ArchiveManifest {
  readonly format: 1
  readonly month?: string
  /** Its Monday. */
  readonly week?: string
  readonly holds: number
  readonly entries: number
  readonly bytes: number
  /** Of the sealed books; null if no money moved. */
  readonly first_block: number | null
  readonly last_block: number | null
  readonly sums: Sums
  readonly accounts: Readonly<Record<string, Sums>>
  readonly objects: readonly {
    readonly key: string
    readonly first_id: string
    readonly last_id: string
    readonly holds: number
    readonly entries: number
    readonly bytes: number
    readonly sha256: string
    readonly content_sha256: string
  }[]
}

export function describePeriod(
  { kind, name }: NamedPeriod,
  objects: readonly ObjectRow[],
  sums: readonly SumRow[],
): ArchiveManifest {
  const blocks = objects.flatMap(({ first_block, last_block }) =>
    first_block === null || last_block === null ? [] : [Number(first_block), Number(last_block)],
  )
  const byAccount = Map.groupBy(sums, ({ account_id }) => account_id)
  return {
    format: 1,
    [kind]: name,
    holds: objects.reduce((sum, { holds }) => sum + holds, 0),
    entries: objects.reduce((sum, { entries }) => sum + entries, 0),
    bytes: objects.reduce((sum, { bytes }) => sum + Number(bytes), 0),
    first_block: blocks.reduce<number | null>(
      (min, n) => (min === null || n < min ? n : min),
      null,
    ),
    last_block: blocks.reduce<number | null>((max, n) => (max === null || n > max ? n : max), null),
    sums: addUp(sums),
    accounts: Object.fromEntries([...byAccount].map(([id, rows]) => [id, addUp(rows)])),
    objects: objects.map(({ storage_key, bytes, sha256, content_sha256, ...object }) => ({
      key: storage_key,
      first_id: object.first_id,
      last_id: object.last_id,
      holds: object.holds,
      entries: object.entries,
      bytes: Number(bytes),
      sha256: sha256.toString('hex'),
      content_sha256: content_sha256.toString('hex'),
    })),
  }
}

function addUp(sums: readonly SumRow[]): Sums {
  const totals = createTotals()
  for (const sum of sums) totals.add(sum)
  return JSON.parse(totals.toString())
}

/** Writes the manifest as loose content. */
export async function writeManifest(sql: Sql, blobs: Blobs, period: NamedPeriod) {
  const manifest = describePeriod(
    period,
    await selectObjects(sql, period.name),
    await selectSums(sql, period.name),
  )
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`)
  return await blobs.write(Readable.from([bytes]), bytes.length)
}

/** Rejects with OperatorError unless the manifest is as stated. */
export async function readArchiveManifest(
  storage: ReadContent,
  stated: { readonly manifest_key: string; readonly manifest_sha256: Buffer },
): Promise<ArchiveManifest> {
  const { manifest_key: key, manifest_sha256: sha256 } = stated
  const bytes = await readBytes(storage, key)
  if (sha256Of(bytes).equals(sha256)) return JSON.parse(bytes.toString('utf8'))
  throw new OperatorError(`manifest ${key} of the archive is damaged: its SHA-256 differs`)
}
