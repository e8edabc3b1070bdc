/** A compact index of a chain's blocks, read once, for checking the entries. */
import { type BlockFields, HASH_BYTES, hashBlock } from './canonical.ts'

export interface ChainIndex {
  /** The number of the last block, and the last entry id that it covers; 0 without blocks. */
  readonly last: number
  readonly lastId: bigint
  readonly sealedAt: string | undefined
  readonly totals: string
  readonly problems: readonly string[]
  /** Returns the block that covers an entry id, or undefined if the id is in a gap of the chain. */
  find(id: bigint): number | undefined
  hashOf(number: number): Buffer | undefined
  rootOf(number: number): Buffer
  uptoOf(number: number): bigint | undefined
  countOf(number: number): number
  /** The numbers of all blocks. */
  numbers(): Iterable<number>
}

type Stored = Pick<BlockFields, 'after_id' | 'upto_id' | 'entries' | 'totals' | 'sealed_at'>

const PROBLEMS_MAX = 20
const DIGESTS_BYTES = 2 * HASH_BYTES

/** Reads blocks in any order and checks the links between them. */
export async function indexBlocks(blocks: AsyncIterable<BlockFields>): Promise<ChainIndex> {
  const chain = createChain()
  const early = new Map<bigint, BlockFields>()
  for await (const block of blocks) {
    if (block.number < chain.next() || early.has(block.number)) {
      chain.complain(`block ${block.number} appears twice`)
      continue
    }
    early.set(block.number, { ...block, marks: Buffer.alloc(0) })
    for (let ready = early.get(chain.next()); ready; ready = early.get(chain.next())) {
      early.delete(ready.number)
      chain.append(ready)
    }
  }
  const rest = [...early.values()].sort((a, b) => Number(a.number - b.number))
  for (const block of rest) {
    const missing = block.number - chain.next()
    if (missing > 0n) {
      const range = `${chain.next()}${missing > 1n ? ` to ${block.number - 1n}` : ''}`
      chain.complain(`block ${range} ${missing > 1n ? 'are' : 'is'} missing`)
    }
    chain.append(block)
  }
  return chain.index()
}

function createChain() {
  const problems: string[] = []
  const numbers: number[] = []
  const afters: bigint[] = []
  const uptos: bigint[] = []
  const counts: number[] = []
  let digests = Buffer.alloc(DIGESTS_BYTES * 64)
  let last: BlockFields | undefined

  function complain(problem: string): void {
    if (problems.length < PROBLEMS_MAX) problems.push(problem)
  }

  function append(block: BlockFields): void {
    for (const problem of judgeBlock(last, block)) complain(problem)
    const place = numbers.length
    numbers.push(Number(block.number))
    afters.push(block.after_id)
    uptos.push(block.upto_id)
    counts.push(block.entries)
    if ((place + 1) * DIGESTS_BYTES > digests.length) {
      digests = Buffer.concat([digests, Buffer.alloc(digests.length)])
    }
    block.hash.copy(digests, place * DIGESTS_BYTES)
    block.root.copy(digests, place * DIGESTS_BYTES + HASH_BYTES)
    last = block
  }

  /** Without gaps, a block's position is its number minus one. */
  function placeOf(number: number): number {
    return numbers[number - 1] === number ? number - 1 : numbers.indexOf(number)
  }

  function digestOf(number: number, from: number): Buffer | undefined {
    const start = placeOf(number) * DIGESTS_BYTES + from
    return start < 0 ? undefined : digests.subarray(start, start + HASH_BYTES)
  }

  return {
    complain,
    append,
    next: () => (last?.number ?? 0n) + 1n,
    index(): ChainIndex {
      const {
        sealed_at: sealedAt,
        totals = '{}',
        upto_id: lastId = 0n,
      }: Partial<Stored> = last ?? {}
      return {
        last: numbers.at(-1) ?? 0,
        lastId,
        sealedAt,
        totals,
        problems,
        find: (id) => numbers[findPlace(id, afters, uptos)],
        hashOf: (number) => digestOf(number, 0),
        rootOf: (number) => digestOf(number, HASH_BYTES) ?? Buffer.alloc(HASH_BYTES),
        uptoOf: (number) => uptos[placeOf(number)],
        countOf: (number) => counts[placeOf(number)] ?? 0,
        numbers: () => numbers,
      }
    },
  }
}

function judgeBlock(last: BlockFields | undefined, block: BlockFields): string[] {
  const name = `block ${block.number}`
  const isNext = block.number === (last?.number ?? 0n) + 1n
  const previous = last?.hash ?? Buffer.alloc(HASH_BYTES)
  const covered = last?.upto_id ?? 0n
  const total = (last?.entries_total ?? 0n) + BigInt(block.entries)
  return [
    ...(hashBlock(block)?.equals(block.hash) ? [] : [`${name} does not match its hash`]),
    ...(isNext && !block.previous.equals(previous)
      ? [`${name} does not link to the previous block`]
      : []),
    ...(isNext && block.after_id !== covered
      ? [`${name} does not start where the previous block ends`]
      : []),
    ...(isNext && block.entries_total !== total ? [`${name} has a wrong entry count`] : []),
  ]
}

/** Returns the position of the block that covers an id, or -1. */
function findPlace(id: bigint, afters: readonly bigint[], uptos: readonly bigint[]): number {
  let low = 0
  let high = uptos.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((uptos[middle] ?? 0n) < id) low = middle + 1
    else high = middle
  }
  return id > (afters[low] ?? id) ? low : -1
}
