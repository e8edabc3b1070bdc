/**
 * Compares the holds of ordinary calls with those of an earlier version for the same calls. `node
 * proofs/prices/holds.ts FILE`, in a checkout of that version, records its holds.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent } from 'undici'
import { quantile } from '../../testbed/results.ts'
import { readRecords } from './books.ts'
import { CORPUS_MODELS, makeCorpus } from './cases/corpus.ts'
import { driveCases } from './drive.ts'
import { BALANCE, openStage, type ProofStage } from './stage.ts'

const BEFORE = join(import.meta.dirname, 'holds-before.json')
const CONCURRENCY = 16
/** The highest allowed growth of the median hold. */
export const GROWTH_MAX = 1.5

export interface Growth {
  readonly commit: string
  readonly calls: number
  readonly median: number
  readonly p90: number
  readonly most: number
}

interface Recorded {
  readonly commit: string
  readonly holds: readonly string[]
}

/** Returns the holds of the corpus in nano-units, in its order. */
async function measureHolds(stage: ProofStage): Promise<bigint[]> {
  const corpus = makeCorpus()
  const purse = await stage.createPurse(BALANCE)
  const dispatcher = new Agent({ connections: CONCURRENCY })
  stage.vendor.expect(corpus)
  const options = {
    dispatcher,
    url: stage.url,
    concurrency: CONCURRENCY,
    purseFor: async () => purse,
  }
  const observed = await driveCases(corpus, options)
  await dispatcher.destroy()
  const rows = await readRecords(
    stage.sql,
    observed.flatMap(({ requestId }) => requestId ?? []),
  )
  const holds = new Map(
    observed.map(({ testCase, requestId, status, text }) => {
      const row = rows.get(requestId ?? '')
      if (!row) throw new Error(`call ${testCase.id} of the corpus has no hold: ${status} ${text}`)
      return [testCase.id, row.amount]
    }),
  )
  for (const { id } of corpus) stage.vendor.forget(id)
  return corpus.map(({ id }) => holds.get(id) ?? 0n)
}

/** Divides each hold by the one recorded with the earlier version. */
export async function compareHolds(stage: ProofStage): Promise<Growth> {
  const { commit, holds }: Recorded = JSON.parse(readFileSync(BEFORE, 'utf8'))
  const now = await measureHolds(stage)
  const ratios = now.map((hold, index) => Number(hold) / Number(holds[index] ?? 'NaN'))
  const at = (q: number) => Math.round(quantile(ratios, q) * 1000) / 1000
  return { commit, calls: ratios.length, median: at(0.5), p90: at(0.9), most: at(1) }
}

if (import.meta.main) {
  const [file = BEFORE, commit = 'unknown'] = process.argv.slice(2)
  const stage = await openStage({ only: CORPUS_MODELS })
  try {
    const holds = (await measureHolds(stage)).map(String)
    writeFileSync(file, `${JSON.stringify({ commit, holds }, null, 2)}\n`)
    console.log(`${holds.length} holds in ${file}`)
  } finally {
    await stage.stop()
  }
}
