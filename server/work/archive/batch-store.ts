/** Reads the rows of a batch from one snapshot, as COPY writes them. */
import type { Sql, TransactionSql } from 'postgres'
import { fixFormats, listTables } from '../../base/database/backup/backup-store.ts'
import { copyRange, type KeyRange } from '../../base/database/backup/copy-range.ts'
import type { OnRow } from '../../base/database/connection/copied-rows.ts'
import { holdIdOf } from '../../base/lib/ids.ts'
import { freeBuffer } from '../../base/lib/memory/free-buffer.ts'
import { liftTimeout } from './archive-store.ts'
import { BEGIN_TABLES, beginTable, END_TABLE } from './table-text.ts'

export interface Batch {
  /** The text of its object. */
  readonly content: Buffer
  readonly holds: number
  readonly first: string
  readonly last: string
  /** Of the rows that the content was written from; see archive_version. */
  readonly version: string
  /**
   * Frees the memory of the content, which the engine would only do at a collection of the whole
   * heap.
   */
  readonly release: () => void
}

export interface BatchLimits {
  readonly holds: number
  /** The size of the call records, which are about half of the content. */
  readonly callBytes: number
}

/** Returns the next holds after an id, from one snapshot, or undefined if none are left. */
export async function selectBatch(
  sql: Sql,
  range: { readonly after: string; readonly endId: string },
  limits: BatchLimits,
): Promise<Batch | undefined> {
  const outcome = await sql.begin('isolation level repeatable read read only', async (view) => {
    await fixFormats(view)
    await liftTimeout(view)
    await view`set local enable_seqscan = off`
    await view`set local jit = off`
    return { batch: await readBatch(view, range, limits) }
  })
  return outcome.batch
}

async function readBatch(
  view: TransactionSql,
  { after, endId }: { readonly after: string; readonly endId: string },
  limits: BatchLimits,
): Promise<Batch | undefined> {
  const [ids] = await view<{ first: string | null; last: string | null; holds: number }[]>`
    select min(id) as first, max(id) as last, count(*)::int as holds from (
      select id from hold where id > ${after} and id < ${endId} order by id
      limit ${limits.holds}) h`
  if (!ids || ids.first === null || ids.last === null) return undefined
  const content = new Content(ids.holds * HOLD_BYTES)
  content.add(BEGIN_TABLES)
  const shapes = new Map((await listTables(view)).map((shape) => [shape.name, shape]))
  const copy = async (name: string, range: KeyRange, add: OnRow) => {
    const shape = shapes.get(name)
    if (!shape) throw new Error(`there is no table ${name}`)
    content.add(beginTable(shape))
    await copyRange(view, shape, range, add)
    content.add(END_TABLE)
  }
  const calls = createCutter(content, limits.callBytes)
  const requests = { after: requestIdOf(after), upto: requestIdOf(ids.last) }
  await copy('call', { key: 'request_id', ...requests }, calls.add)
  const cut = calls.last()
  const last = cut === undefined ? ids.last : holdIdOf(cut)
  let holds = 0
  await copy('hold', { key: 'id', after, upto: last }, (bytes, start, end) => {
    content.add(bytes, start, end)
    holds += 1
  })
  await copy('entry', { key: 'posting', after, upto: last }, (bytes, start, end) => {
    content.add(bytes, start, end)
  })
  const [row] = await view<{ version: string }[]>`
    select archive_version(${after}, ${last}) as version`
  const version = row?.version ?? ''
  const release = () => content.free()
  return { content: content.read(), holds, first: ids.first, last, version, release }
}

const requestIdOf = (holdId: string) => `req_${holdId.slice('hold_'.length)}`

/** Adds rows as long as they fit, but at least one. */
function createCutter(content: Content, bytesMax: number) {
  let length = 0
  /** The place of the last row that fitted. */
  let last: number | undefined
  let isFull = false
  return {
    add(bytes: Buffer, start: number, end: number) {
      length += end - start
      isFull ||= last !== undefined && length > bytesMax
      if (isFull) return
      last = content.length
      content.add(bytes, start, end)
    },
    /** Returns the first column of the last row that fitted, if not all did. */
    last(): string | undefined {
      if (!isFull) return undefined
      const added = content.read()
      return added.toString('latin1', last, added.indexOf('\t', last))
    },
  }
}

/**
 * More bytes than most holds have with their calls and entries, because growing a buffer copies it.
 */
const HOLD_BYTES = 2_000

/** Collects bytes that arrive piece by piece; a list of the buffers would cost twice as much. */
class Content {
  length = 0
  private bytes: Buffer

  constructor(expectedBytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(expectedBytes)
  }

  /** Adds bytes, or those from `start` up to `end`. */
  add(bytes: Buffer, start = 0, end = bytes.length): void {
    const length = this.length + end - start
    if (length > this.bytes.length) {
      const wider = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.bytes.length))
      this.bytes.copy(wider, 0, 0, this.length)
      this.free()
      this.bytes = wider
    }
    bytes.copy(this.bytes, this.length, start, end)
    this.length = length
  }

  read(): Buffer {
    return this.bytes.subarray(0, this.length)
  }

  /** Frees the memory; content that was read is empty from now on. */
  free(): void {
    freeBuffer(this.bytes)
  }
}
