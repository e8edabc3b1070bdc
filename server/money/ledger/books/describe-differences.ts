/** Describes which entries of a mismatching block were changed, removed or inserted. */
import { digestEntry, type EntryFields } from './canonical.ts'
import type { ChainIndex } from './chain-index.ts'
import type { ChainSource } from './chain-source.ts'

/** A mark consists of an entry's id and the first 8 bytes of its digest. */
const MARK_BYTES = 16
const ID_BYTES = 8
const SHOWN_MAX = 20

interface Sealed {
  readonly sealedAt: string
  /** The block's marks by id; each is removed once its entry is read. */
  readonly marks: Map<bigint, string>
  readonly differences: string[]
}

/** Reads blocks and entries a second time; only needed if verification failed. */
export async function describeDifferences(
  source: ChainSource,
  index: ChainIndex,
  numbers: readonly number[],
): Promise<string[]> {
  if (numbers.length === 0) return []
  const selected = new Set(numbers)
  const sealed = new Map<number, Sealed>()
  for await (const block of source.blocks()) {
    const number = Number(block.number)
    if (!selected.has(number)) continue
    sealed.set(number, {
      sealedAt: block.sealed_at,
      marks: readMarks(block.marks),
      differences: [],
    })
  }
  for await (const entry of source.entries()) {
    const block = sealed.get(index.find(entry.id) ?? 0)
    if (block) compare(entry, block)
  }
  const problems = [...sealed].flatMap(([number, block]) => describeBlock(number, block))
  const more = problems.length - SHOWN_MAX
  return more > 0 ? [...problems.slice(0, SHOWN_MAX), `and ${more} further differences`] : problems
}

function readMarks(bytes: Buffer): Map<bigint, string> {
  const marks = new Map<bigint, string>()
  for (let at = 0; at + MARK_BYTES <= bytes.length; at += MARK_BYTES) {
    const digest = bytes.subarray(at + ID_BYTES, at + MARK_BYTES).toString('hex')
    marks.set(bytes.readBigInt64BE(at), digest)
  }
  return marks
}

function compare(entry: EntryFields, { marks, differences }: Sealed): void {
  const name = `entry ${entry.id} (${entry.posting} ${entry.step}, account ${entry.account_id})`
  const mark = marks.get(entry.id)
  marks.delete(entry.id)
  if (mark === undefined) differences.push(`${name} was inserted`)
  else if (!digestEntry(entry).toString('hex').startsWith(mark)) {
    differences.push(`${name} was changed`)
  }
}

function describeBlock(number: number, { sealedAt, marks, differences }: Sealed): string[] {
  const removed = [...marks.keys()].map((id) => `entry ${id} was removed`)
  const found = [...differences, ...removed]
  if (found.length === 0) return [`block ${number} was not sealed over the entries it covers`]
  return found.map((text) => `${text} after it was sealed in block ${number} at ${sealedAt}`)
}
