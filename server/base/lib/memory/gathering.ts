/**
 * Gathers the bytes of one body: in memory while its account has room there, then in a file. Data
 * that arrives at the speed of a caller or a vendor therefore never takes memory from others.
 */
import { Readable } from 'node:stream'
import type { Portion } from './budget.ts'
import { freeBuffer } from './free-buffer.ts'
import type { Memory, MemoryKind } from './memory.ts'
import { Slabs } from './slabs.ts'
import { readInPieces, type SpillFile } from './spill-file.ts'

/** Bytes that are written to the file at once. */
const PIECE_BYTES = 1024 * 1024
/**
 * Chunks below this size are copied together: each takes some 400 bytes of memory, also one of a
 * single byte.
 */
const SMALL_BYTES = 4 * 1024

export interface GatheringOptions {
  readonly memory: Memory
  /** The id of the account, or '' without one. */
  readonly account: string
  readonly kind: Extract<MemoryKind, 'arriving' | 'answer'>
  /** A longer body goes to the file. */
  readonly bytesMax: number
  /** True if nothing else reads the chunks: their memory is returned once they are joined. */
  readonly ownsChunks?: boolean
}

export class Gathering {
  private readonly options: GatheringOptions
  private readonly portion: Portion
  private readonly chunks: Buffer[] = []
  /** Small chunks that follow the others. */
  private readonly small = new Slabs()
  private file: SpillFile | undefined
  private writing: Promise<void> | undefined
  private failure: unknown
  private isClosed = false
  /** Bytes so far. */
  bytes = 0

  constructor(options: GatheringOptions) {
    this.options = options
    this.portion = options.memory.bytes.portion(options.account, options.kind)
  }

  /** Adds a chunk. Returns false if no more should come before `kept` resolves. */
  push(chunk: Buffer): boolean {
    if (this.isClosed) return true
    this.bytes += chunk.length
    // Most bodies are one chunk.
    if (chunk.length < SMALL_BYTES && this.bytes > chunk.length) this.small.add(chunk)
    else this.listChunks().push(chunk)
    const isInMemory = !this.isOnDisk && this.bytes <= this.options.bytesMax
    if (isInMemory && this.portion.grow(chunk.length)) return true
    this.portion.force(chunk.length)
    this.writing ??= this.write()
    return false
  }

  /** Resolves once everything is kept. Rejects with GatewayError 429 or 503 without room. */
  async kept(): Promise<void> {
    await this.writing
    if (this.failure !== undefined) throw this.failure
  }

  get isOnDisk(): boolean {
    return this.file !== undefined || this.writing !== undefined
  }

  /** Returns all bytes in memory; they are counted elsewhere. Nothing can be added then. */
  load(): Buffer | Promise<Buffer> {
    if (this.file) {
      const { garbage } = this.options.memory
      garbage.prepare(this.bytes)
      garbage.add(this.bytes)
      return this.file.readAll()
    }
    const chunks = this.listChunks()
    if (chunks.length === 1) return chunks[0] as Buffer
    const whole = Buffer.concat(chunks)
    if (this.options.ownsChunks) for (const chunk of chunks.splice(0)) freeBuffer(chunk)
    return whole
  }

  /** Returns the bytes as a stream, which `close` ends early. */
  stream(): Readable {
    if (this.file) return readInPieces(this.file)
    return Readable.from(this.listChunks(), { objectMode: false })
  }

  /** Forgets the bytes. */
  close(): void {
    this.isClosed = true
    this.listChunks().length = 0
    this.portion.release()
    this.file?.close().catch(() => undefined)
  }

  /** Returns all chunks that are in memory, in order. */
  private listChunks(): Buffer[] {
    if (this.small.bytes > 0) for (const slab of this.small.take()) this.chunks.push(slab)
    return this.chunks
  }

  private async write(): Promise<void> {
    const { memory, account } = this.options
    try {
      this.file ??= await memory.openFile(account)
      while (this.listChunks().length > 0 && !this.isClosed) {
        const piece = this.takePiece()
        await this.file.append(piece)
        this.portion.shrink(piece.length)
      }
    } catch (error) {
      this.failure = error
    } finally {
      this.writing = undefined
      if (this.isClosed) this.close()
    }
  }

  private takePiece(): Buffer {
    let bytes = 0
    let count = 0
    for (const { length } of this.chunks) {
      if (count > 0 && bytes + length > PIECE_BYTES) break
      bytes += length
      count += 1
    }
    const taken = this.chunks.splice(0, count)
    return taken.length === 1 ? (taken[0] as Buffer) : Buffer.concat(taken)
  }
}
