/** Reads archives again: checksums, rows, sums, and every entry against the sealed books. */
import type { Sql } from 'postgres'
import { OperatorError } from '../../base/lib/operator-error.ts'
import { digestEntry } from '../../money/ledger/books/canonical.ts'
import type { ReadArchived } from '../../money/ledger/books/chain-source.ts'
import {
  type ArchiveRow,
  type ObjectRow,
  type SumRow,
  selectArchives,
  selectObjects,
  selectSums,
  selectUnmarked,
} from './archive-store.ts'
import { describePeriod, readArchiveManifest } from './manifest.ts'
import { type ReadContent, readObject } from './objects.ts'
import type { PeriodKind } from './periods.ts'
import { entriesOf, judgeRecord, readRecord } from './record.ts'
import { linesOfObject } from './table-text.ts'

export interface VerifiedPeriod {
  readonly kind: PeriodKind
  readonly name: string
  readonly objects: number
  readonly holds: number
  readonly entries: number
  /** For display, at most 20. */
  readonly problems: readonly string[]
}

const PROBLEMS_MAX = 20

interface StatedPeriod {
  readonly archive: ArchiveRow
  readonly objects: readonly ObjectRow[]
  readonly sums: readonly SumRow[]
}

/** Reads what the database states at one instant. Rejects with OperatorError without the period. */
export async function readStated(sql: Sql, name?: string): Promise<StatedPeriod[]> {
  const outcome = await sql.begin('isolation level repeatable read read only', async (view) => {
    const periods: StatedPeriod[] = []
    for (const archive of await selectArchives(view, name)) {
      const objects = await selectObjects(view, archive.name)
      periods.push({ archive, objects, sums: await selectSums(view, archive.name) })
    }
    return { periods }
  })
  if (name === undefined || outcome.periods.length > 0) return outcome.periods
  throw new OperatorError(`${name} is not archived`)
}

/** Reads every object of a period. */
export async function verifyPeriod(
  sql: Sql,
  storage: ReadContent,
  stated: StatedPeriod,
): Promise<VerifiedPeriod> {
  const { archive, objects, sums } = stated
  const problems: string[] = []
  const complain = (problem: string) => {
    if (problems.length < PROBLEMS_MAX) problems.push(problem)
  }
  const flows = createFlows()
  for (const object of objects) {
    try {
      for (const problem of await verifyObject(sql, storage, object, flows)) complain(problem)
    } catch (error) {
      complain(describe(error))
    }
  }
  if (problems.length === 0) for (const problem of flows.compare(sums)) complain(problem)
  for (const problem of await verifyManifest(storage, stated)) complain(problem)
  const holds = objects.reduce((sum, object) => sum + object.holds, 0)
  const entries = objects.reduce((sum, object) => sum + object.entries, 0)
  return {
    kind: archive.kind,
    name: archive.name,
    objects: objects.length,
    holds,
    entries,
    problems,
  }
}

async function verifyObject(
  sql: Sql,
  storage: ReadContent,
  object: ObjectRow,
  flows: ReturnType<typeof createFlows>,
): Promise<string[]> {
  const lines = linesOfObject(await readObject(storage, object))
  const records = lines.map(readRecord)
  const entries = records.flatMap(entriesOf)
  for (const entry of entries) flows.add(entry)
  const digested = entries.map((entry) => ({ id: entry.id, digest: digestEntry(entry) }))
  const unmarked = await selectUnmarked(sql, digested)
  const counts = [records.length, entries.length]
  const stated = [object.holds, object.entries]
  return [
    ...records.flatMap((record) => judgeRecord(record) ?? []),
    ...unmarked.map((id) => `entry ${id} in ${object.storage_key} is not what was sealed`),
    ...(counts.join() === stated.join()
      ? []
      : [`${object.storage_key} has ${counts} holds and entries, not ${stated}`]),
  ]
}

async function verifyManifest(storage: ReadContent, stated: StatedPeriod): Promise<string[]> {
  const { archive, objects, sums } = stated
  const { manifest_key, manifest_sha256, kind, name } = archive
  if (manifest_key === null || manifest_sha256 === null) {
    return [`${name} has no manifest yet: run \`tributary archive create --${kind} ${name}\``]
  }
  try {
    const found = await readArchiveManifest(storage, { manifest_key, manifest_sha256 })
    const expected = describePeriod(archive, objects, sums)
    if (JSON.stringify(found) === JSON.stringify(expected)) return []
    return [`manifest ${manifest_key} does not list what the database has of ${name}`]
  } catch (error) {
    return [describe(error)]
  }
}

type Flow = Pick<SumRow, 'account_id' | 'currency' | 'source' | 'destination'>

/** Sums entries as archived_sum does. */
function createFlows() {
  const found = new Map<string, { entries: bigint; amount: bigint }>()
  const nameOf = ({ account_id, currency, source, destination }: Flow) =>
    `${account_id} ${currency} from ${source} to ${destination}`
  return {
    add(entry: Flow & { readonly amount: bigint }) {
      const name = nameOf(entry)
      const flow = found.get(name) ?? { entries: 0n, amount: 0n }
      found.set(name, { entries: flow.entries + 1n, amount: flow.amount + entry.amount })
    },
    compare(sums: readonly SumRow[]): string[] {
      const stated = new Map(sums.map((sum) => [nameOf(sum), sum]))
      return [...new Set([...found.keys(), ...stated.keys()])].flatMap((name) => {
        const one = found.get(name) ?? { entries: 0n, amount: 0n }
        const other = stated.get(name) ?? { entries: 0n, amount: 0n }
        if (one.amount === other.amount && one.entries === other.entries) return []
        return [
          `${name}: the objects have ${one.amount} in ${one.entries} entries, ` +
            `the database ${other.amount} in ${other.entries}`,
        ]
      })
    },
  }
}

function describe(error: unknown): string {
  if (error instanceof OperatorError) return error.message
  throw error
}

/** Returns a reader of archived entries for the verification of the sealed books. */
export function archivedEntries(storage: ReadContent): ReadArchived {
  return async function* (objects) {
    for (const object of objects) {
      for (const line of linesOfObject(await readObject(storage, object))) {
        yield* entriesOf(readRecord(line))
      }
    }
  }
}
