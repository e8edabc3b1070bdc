/**
 * Sends a large document at the pace of its reader. What a reader leaves behind waits in a file, so
 * that answers to callers that do not read take no memory.
 */
import type { ServerResponse } from 'node:http'
import { accountOf, type Context } from './context.ts'

/** Smaller documents mostly fit into what the system keeps of a connection. */
export const LARGE_BYTES = 1024 * 1024
const PIECE_BYTES = 256 * 1024
/** A reader of usual speed is never slower for one piece. */
const PATIENCE_MS = 1_000
/** The slowest reader, over the whole document. */
const BYTES_PER_SECOND_MIN = 16 * 1024
const GRACE_MS = 60_000

/** Sends the rest of a response whose head is written. */
export function sendLarge(context: Context, document: Buffer): void {
  void new LargeDocument(context, document).send()
}

class LargeDocument {
  private readonly context: Context
  /** Not sent yet; the only reference to it, which is given up once it is in a file. */
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
      await this.sendFromMemory(bytes)
      if (this.rest && !response.destroyed) await this.sendFromFile()
      if (!response.destroyed) response.end()
    } catch {
      // There is no room for it on disk either: the response is cut off.
      response.destroy()
    } finally {
      clearTimeout(late)
    }
  }

  /** Sends as long as the reader is fast enough. */
  private async sendFromMemory(bytes: number): Promise<void> {
    const { response, memory } = this.context
    const portion = memory.bytes.portion(accountOf(this.context), 'answer')
    const patienceMs = portion.grow(bytes) ? PATIENCE_MS : 0
    let isFast = true
    while (this.rest && isFast && !response.destroyed) {
      // Copied: a part that waits to leave would keep the whole in memory.
      const piece = Buffer.from(this.rest.subarray(0, PIECE_BYTES))
      this.rest = this.rest.length > PIECE_BYTES ? this.rest.subarray(PIECE_BYTES) : undefined
      isFast = response.write(piece) || (await drained(response, patienceMs))
    }
    portion.release()
  }

  private async sendFromFile(): Promise<void> {
    const { response, memory } = this.context
    const file = await memory.openFile(accountOf(this.context))
    try {
      while (this.rest) {
        await file.append(this.rest.subarray(0, LARGE_BYTES))
        this.rest = this.rest.length > LARGE_BYTES ? this.rest.subarray(LARGE_BYTES) : undefined
      }
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
}

/** Resolves once the response takes more or is over; to false if it has not within the time. */
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
