/**
 * Sends a large document at the pace of its reader. What the reader has not yet read waits in a
 * file, so that answers to callers that do not read take no memory.
 */
import type { ServerResponse } from 'node:http'
import type { SpillFile } from '../lib/memory/spill-file.ts'
import { accountOf, type Context } from './context.ts'

/** Smaller documents usually fit into the system's buffers of a connection. */
export const LARGE_BYTES = 1024 * 1024
const PIECE_BYTES = 256 * 1024
/** A reader of usual speed is never slower for one piece. */
const PATIENCE_MS = 1_000
/** The slowest reader, over the whole document. */
const BYTES_PER_SECOND_MIN = 16 * 1024
const GRACE_MS = 60_000
const NOTHING = Buffer.alloc(0)

/** Sends the rest of a response whose head is written. */
export function sendLarge(context: Context, document: Buffer): void {
  void new LargeDocument(context, document).send()
}

class LargeDocument {
  private readonly context: Context
  /**
   * The part that is not sent yet. This is the only reference to it, and is dropped once the part
   * is in a file.
   */
  private rest: Buffer | undefined

  constructor(context: Context, document: Buffer) {
    this.context = context
    this.rest = document
  }

  /** Never rejects. */
  async send(): Promise<void> {
    const { response } = this.context
    const bytes = this.rest?.length ?? 0
    const withinMs = GRACE_MS + (bytes / BYTES_PER_SECOND_MIN) * 1000
    const late = setTimeout(() => response.destroy(), withinMs)
    try {
      const file = await this.sendFromMemory(bytes)
      if (file) await this.sendFromFile(file)
      if (!response.destroyed) response.end()
    } catch {
      // There is no room on disk either, so the response is cut off.
      response.destroy()
    } finally {
      clearTimeout(late)
    }
  }

  /** Sends as long as the reader is fast enough. Returns the file with the rest. */
  private async sendFromMemory(bytes: number): Promise<SpillFile | undefined> {
    const { response, memory } = this.context
    const portion = memory.bytes.portion(accountOf(this.context), 'answer')
    const patienceMs = portion.grow(bytes) ? PATIENCE_MS : 0
    // The document is in memory in any case: others that need memory wait until it is in a file.
    if (patienceMs === 0) portion.force(bytes)
    let isFast = true
    try {
      while (this.rest && isFast && !response.destroyed) {
        // Copied, because a part that waits to be sent would keep the whole document in memory.
        const piece = Buffer.from(this.takePiece(PIECE_BYTES))
        isFast = response.write(piece) || (await drained(response, patienceMs))
      }
      return response.destroyed ? undefined : await this.spill()
    } finally {
      portion.release()
    }
  }

  private async spill(): Promise<SpillFile | undefined> {
    if (!this.rest) return undefined
    const file = await this.context.memory.openFile(accountOf(this.context))
    try {
      const { response } = this.context
      while (this.rest && !response.destroyed) await file.append(this.takePiece(LARGE_BYTES))
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  }

  private async sendFromFile(file: SpillFile): Promise<void> {
    const { response } = this.context
    try {
      for (let position = 0; position < file.bytes && !response.destroyed; ) {
        const piece = Buffer.allocUnsafe(PIECE_BYTES)
        const count = await file.read(piece, position)
        position += count
        if (!response.write(piece.subarray(0, count))) await drained(response)
      }
    } finally {
      await file.close()
    }
  }

  private takePiece(bytes: number): Buffer {
    const { rest = NOTHING } = this
    this.rest = rest.length > bytes ? rest.subarray(bytes) : undefined
    return rest.subarray(0, bytes)
  }
}

/** Resolves once the response accepts more or is over; to false if neither happens in time. */
function drained(response: ServerResponse, withinMs?: number): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(true)
  return new Promise((resolve) => {
    const end = (isDrained: boolean) => {
      clearTimeout(timer)
      response.off('drain', onDrained).off('close', onDrained)
      resolve(isDrained)
    }
    const onDrained = () => end(true)
    const timer = withinMs === undefined ? undefined : setTimeout(() => end(false), withinMs)
    response.on('drain', onDrained).on('close', onDrained)
  })
}
