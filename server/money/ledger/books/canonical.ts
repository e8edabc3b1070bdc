/**
 * The canonical bytes that the books are sealed over, computed without a database, so that
 * verifying a backup does not rely on functions stored beside the data.
 */
import { createHash } from 'node:crypto'

export interface EntryFields {
  readonly id: bigint
  readonly posting: string
  readonly step: string
  readonly account_id: string
  readonly currency: string
  readonly source: string
  readonly destination: string
  readonly amount: bigint
  /** PostgreSQL's output with ISO dates in UTC: `2026-01-31 12:00:00.123456+00`. */
  readonly at: string
}

export interface BlockFields {
  readonly number: bigint
  readonly previous: Buffer
  readonly after_id: bigint
  readonly upto_id: bigint
  readonly entries: number
  readonly entries_total: bigint
  readonly root: Buffer
  readonly marks: Buffer
  readonly totals: string
  readonly sealed_at: string
  readonly hash: Buffer
}

export const HASH_BYTES = 32

/** Type OIDs of PostgreSQL's binary format, which never change. */
const BIGINT = 20
const TEXT = 25
const TIMESTAMP = 1184
/** Microseconds from 1970 to 2000, the epoch of PostgreSQL's timestamps. */
const EPOCH_MICROS = 946_684_800_000_000n
const TIME = /^(\d{4,6}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/

/** Returns the SHA-256 of an entry's canonical bytes, or zeros if its time is invalid. */
export function digestEntry(entry: EntryFields): Buffer {
  const micros = readMicros(entry.at)
  if (micros === undefined) return Buffer.alloc(HASH_BYTES)
  const count = Buffer.alloc(4)
  count.writeInt32BE(9)
  const texts = [entry.posting, entry.step, entry.account_id, entry.currency, entry.source]
  const parts = [
    count,
    field(BIGINT, whole(entry.id)),
    ...[...texts, entry.destination].map((text) => field(TEXT, Buffer.from(text))),
    field(BIGINT, whole(entry.amount)),
    field(TIMESTAMP, whole(micros - EPOCH_MICROS)),
  ]
  return sha256(Buffer.concat(parts))
}

/** Returns the hash of a block's header, or undefined if its time is invalid. */
export function hashBlock(block: Omit<BlockFields, 'hash' | 'marks'>): Buffer | undefined {
  const micros = readMicros(block.sealed_at)
  if (micros === undefined) return undefined
  const lines = [
    'tributary ledger block 1',
    block.number,
    block.previous.toString('hex'),
    block.after_id,
    block.upto_id,
    block.entries,
    block.entries_total,
    block.root.toString('hex'),
    block.totals,
    micros,
  ]
  return sha256(Buffer.from(lines.join('\n')))
}

export function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}

/** Returns microseconds since 1970, or undefined if the text is not a time. */
function readMicros(text: string): bigint | undefined {
  const [, day, time, fraction = ''] = TIME.exec(text) ?? []
  const ms = Date.parse(`${day}T${time}Z`)
  if (Number.isNaN(ms)) return undefined
  return BigInt(ms) * 1_000n + BigInt(fraction.padEnd(6, '0'))
}

function whole(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt.asIntN(64, value))
  return bytes
}

function field(type: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeInt32BE(type)
  head.writeInt32BE(bytes.length, 4)
  return Buffer.concat([head, bytes])
}
