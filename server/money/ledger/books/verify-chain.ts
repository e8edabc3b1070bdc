/**
 * Verifies the entries against the blocks: first the links between blocks, then every entry against
 * its block, and, only for blocks that differ, which entries differ. Rows may come in any order;
 * memory grows with the number of blocks (80 bytes each) and the entries of incomplete blocks (40
 * bytes each).
 */

import { digestEntry } from './canonical.ts'
import { type ChainIndex, indexBlocks } from './chain-index.ts'
import type { ChainSource } from './chain-source.ts'
import { type Collector, createCollector } from './collect-digests.ts'
import { describeDifferences } from './describe-differences.ts'
import { createTotals } from './totals.ts'

export interface ChainReport {
  /** For display, about 20 at most; empty if every sealed entry is unchanged. */
  readonly problems: readonly string[]
  /** The number of the last block; 0 if there is none. */
  readonly blocks: number
  readonly entries: bigint
  /** Entries that no block covers yet. */
  readonly unsealed: bigint
  /** The time of the last block; undefined if there is none. */
  readonly sealedAt: string | undefined
  /** Returns the stored hash of a block; it can only be trusted if there are no problems. */
  hashOf(number: number): Buffer | undefined
  uptoOf(number: number): bigint | undefined
  /** Sums of the entries up to the requested block, and up to the last one. */
  readonly totalsAtBlock: string
  readonly totals: string
}

const BROKEN_SHOWN = 10

/** `atBlock` is a block up to which totals are also computed, besides those of the whole chain. */
export async function verifyChain(source: ChainSource, atBlock = 0): Promise<ChainReport> {
  const index = await indexBlocks(source.blocks())
  const upto = index.uptoOf(atBlock) ?? 0n
  const collector = createCollector(index)
  const totals = createTotals()
  const totalsAtBlock = createTotals()
  let entries = 0n
  let unsealed = 0n
  for await (const entry of source.entries()) {
    if (entry.id > index.lastId) {
      unsealed += 1n
      continue
    }
    entries += 1n
    totals.add(entry)
    if (entry.id <= upto) totalsAtBlock.add(entry)
    collector.add(entry.id, digestEntry(entry))
  }
  const problems = [...index.problems, ...judgeTotals(index, totals.toString(), collector)]
  problems.push(...collector.outside.map((id) => `entry ${id} is in no block: it was inserted`))
  const broken = collector.broken().slice(0, BROKEN_SHOWN)
  problems.push(...(await describeDifferences(source, index, broken)))
  const more = collector.broken().length - broken.length
  if (more > 0) problems.push(`${more} further blocks differ from their entries`)
  return {
    problems,
    entries,
    unsealed,
    blocks: index.last,
    sealedAt: index.sealedAt,
    totals: totals.toString(),
    totalsAtBlock: totalsAtBlock.toString(),
    hashOf: index.hashOf,
    uptoOf: index.uptoOf,
  }
}

/** Returns a mismatch of the totals, unless differing entries already explain it. */
function judgeTotals(index: ChainIndex, found: string, collector: Collector): string[] {
  const isExplained =
    index.problems.length > 0 || collector.outside.length > 0 || collector.broken().length > 0
  if (isExplained || found === index.totals) return []
  return [`the entries add up to ${found}, the last block says ${index.totals}`]
}
