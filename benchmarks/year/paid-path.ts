/** The paid path of a database with a year of calls against that of an empty one, in turns. */
import type { Sql } from 'postgres'
import type { CreatedKey } from '../../server/money/accounts/manage-keys.ts'
import { closeHolds, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { toHoldRow, toSettleRow } from '../../server/money/ledger/posting/rows.ts'
import { openPlace } from '../../testbed/laboratory.ts'
import { runPairs } from '../../testbed/pairs.ts'
import { findPostmaster } from '../../testbed/postmaster.ts'
import { readCpuSeconds } from '../../testbed/proc.ts'
import { median } from '../../testbed/results.ts'

const LEDGER = { takeHolds, closeHolds, toHoldRow, toSettleRow }
const ROUNDS = 9
/** Pairs in a batch, and batches in a round. */
const SIZES = [
  [1, 300],
  [64, 20],
] as const

export interface Candidate {
  readonly sql: Sql
  readonly dataDir: string
  readonly key: CreatedKey
}

export interface PaidPath {
  readonly size: number
  /** PostgreSQL's microseconds for a hold and its settlement. */
  readonly empty: number
  readonly filled: number
  /** The median of each round's ratio. */
  readonly ratio: number
}

/** Measures pairs on the filled database and on an empty one that it makes. */
export async function comparePaidPath(filled: Candidate): Promise<readonly PaidPath[]> {
  const place = await openPlace('http://127.0.0.1:9')
  try {
    const [key] = place.keys
    if (!key) throw new Error('no key')
    return await place.withDatabase(async (sql) => {
      const empty = { sql, dataDir: place.dataDir, key }
      const found: PaidPath[] = []
      for (const [size, batches] of SIZES) found.push(await compare(empty, filled, size, batches))
      return found
    })
  } finally {
    await place.close()
  }
}

async function compare(
  empty: Candidate,
  filled: Candidate,
  size: number,
  batches: number,
): Promise<PaidPath> {
  const measured: { empty: number; filled: number }[] = []
  for (let round = -1; round < ROUNDS; round += 1) {
    const one = { empty: await measure(empty, size, batches), filled: 0 }
    one.filled = await measure(filled, size, batches)
    if (round >= 0) measured.push(one)
  }
  return {
    size,
    empty: median(measured.map((one) => one.empty)),
    filled: median(measured.map((one) => one.filled)),
    ratio: median(measured.map((one) => one.filled / one.empty)),
  }
}

async function measure({ sql, dataDir, key }: Candidate, size: number, batches: number) {
  const postmaster = findPostmaster(dataDir)
  if (postmaster === undefined) throw new Error('no database')
  const start = readCpuSeconds(postmaster)
  for (let batch = 0; batch < batches; batch += 1) {
    await runPairs(
      sql,
      LEDGER,
      Array.from({ length: size }, () => key),
    )
  }
  return ((readCpuSeconds(postmaster) - start) * 1e6) / (size * batches)
}
