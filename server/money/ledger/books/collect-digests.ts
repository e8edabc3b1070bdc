/** Collects the digests of entries by block and checks each block once it is complete. */
import { HASH_BYTES, sha256 } from './canonical.ts'
import type { ChainIndex } from './chain-index.ts'

export interface Collector {
  add(id: bigint, digest: Buffer): void
  /**
   * Returns the numbers of blocks that do not match their entries, in order. Call after all
   * entries.
   */
  broken(): readonly number[]
  /** Ids in no block although a later id is sealed, at most 20. */
  readonly outside: readonly bigint[]
}

interface Bucket {
  readonly ids: bigint[]
  /** 32 bytes per id. */
  bytes: Buffer
}

const FIRST_ROOM = 64
const OUTSIDE_MAX = 20

export function createCollector(index: ChainIndex): Collector {
  const open = new Map<number, Bucket>()
  const complete = new Set<number>()
  const wrong = new Set<number>()
  const outside: bigint[] = []

  function judge(number: number, bucket: Bucket): void {
    if (!hashInOrder(bucket).equals(index.rootOf(number))) wrong.add(number)
    complete.add(number)
    open.delete(number)
  }

  return {
    outside,
    add(id, digest) {
      const number = index.find(id)
      if (number === undefined) {
        if (outside.length < OUTSIDE_MAX) outside.push(id)
        return
      }
      if (complete.has(number)) {
        wrong.add(number)
        return
      }
      const bucket = open.get(number) ?? { ids: [], bytes: Buffer.alloc(FIRST_ROOM * HASH_BYTES) }
      open.set(number, bucket)
      put(bucket, id, digest)
      if (bucket.ids.length === index.countOf(number)) judge(number, bucket)
    },
    broken() {
      for (const number of index.numbers()) if (!complete.has(number)) wrong.add(number)
      return [...wrong].sort((a, b) => a - b)
    },
  }
}

function put(bucket: Bucket, id: bigint, digest: Buffer): void {
  const start = bucket.ids.length * HASH_BYTES
  if (start === bucket.bytes.length)
    bucket.bytes = Buffer.concat([bucket.bytes, Buffer.alloc(start)])
  digest.copy(bucket.bytes, start)
  bucket.ids.push(id)
}

function hashInOrder({ ids, bytes }: Bucket): Buffer {
  const isInOrder = ids.every((id, place) => place === 0 || id > (ids[place - 1] ?? 0n))
  if (isInOrder) return sha256(bytes.subarray(0, ids.length * HASH_BYTES))
  const places = ids.map((_, place) => place)
  places.sort((a, b) => ((ids[a] ?? 0n) < (ids[b] ?? 0n) ? -1 : 1))
  const sorted = places.map((place) => bytes.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES))
  return sha256(Buffer.concat(sorted))
}
