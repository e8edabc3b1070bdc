/** Writes the files of a backup durably, counting and hashing their bytes. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { BackupFile } from './backup-manifest.ts'

const NEWLINE = 0x0a
const BLOCK_BYTES = 256 * 1024

export interface WrittenFile extends BackupFile {
  readonly rows: number
}

interface Meter {
  readonly pass: (chunks: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>
  readonly measured: () => WrittenFile
}

function createMeter(): Meter {
  const hash = createHash('sha256')
  let bytes = 0
  let rows = 0
  return {
    async *pass(chunks) {
      for await (const chunk of chunks) {
        hash.update(chunk)
        bytes += chunk.length
        for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1))
          rows += 1
        yield chunk
      }
    },
    measured: () => ({ rows, bytes, sha256: hash.digest('hex') }),
  }
}

/**
 * Resolves once everything is on disk; only the owner may read the file. If writing fails, the
 * source is still read to its end, since an unread COPY blocks its connection.
 */
export async function writeMeasured(
  source: AsyncIterable<Buffer>,
  path: string,
): Promise<WrittenFile> {
  const meter = createMeter()
  let failure: { readonly error: unknown } | undefined
  const attempt = async (work: Promise<unknown> | undefined) => {
    await work?.catch((error: unknown) => {
      failure ??= { error }
    })
  }
  const opening = open(path, 'wx', 0o600)
  await attempt(opening)
  const file = failure ? undefined : await opening
  for await (const block of gather(meter.pass(source))) {
    if (!failure) await attempt(file?.appendFile(block))
  }
  if (!failure) await attempt(file?.sync())
  await attempt(file?.close())
  if (failure) throw failure.error
  return meter.measured()
}

/** Joins the chunks of a COPY, one per row, into larger blocks. */
async function* gather(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    waiting.push(chunk)
    bytes += chunk.length
    if (bytes < BLOCK_BYTES) continue
    yield Buffer.concat(waiting)
    waiting = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(waiting)
}

export async function measureFile(path: string): Promise<WrittenFile> {
  const meter = createMeter()
  for await (const _ of meter.pass(createReadStream(path))) {
    // Only the measurement is used.
  }
  return meter.measured()
}

export function isSame(
  found: WrittenFile,
  stated: BackupFile & { readonly rows?: number },
): boolean {
  return (
    found.bytes === stated.bytes &&
    found.sha256 === stated.sha256 &&
    (stated.rows === undefined || stated.rows === found.rows)
  )
}
