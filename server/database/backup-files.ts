/** The files of a backup: written through to the disk, weighed and hashed on the way. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import type { BackupFile } from './backup-manifest.ts'

const NEWLINE = 0x0a

export interface Measured extends BackupFile {
  readonly rows: number
}

interface Meter {
  readonly pass: (chunks: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>
  readonly measured: () => Measured
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
 * Resolves once everything is on the disk. Only the owner may read the file. When it cannot be
 * written, the source is read to its end all the same: a COPY that nobody reads blocks its
 * connection for ever.
 */
export async function writeMeasured(source: Readable, path: string): Promise<Measured> {
  const meter = createMeter()
  const chunks: AsyncIterable<Buffer> = source.iterator({ destroyOnReturn: false })
  try {
    await pipeline(chunks, meter.pass, createWriteStream(path, { mode: 0o600, flush: true }))
    return meter.measured()
  } catch (error) {
    await finished(source.resume()).catch(() => undefined)
    throw error
  }
}

export async function measure(source: AsyncIterable<Buffer>): Promise<Measured> {
  const meter = createMeter()
  for await (const _ of meter.pass(source)) {
    // Only the measure counts.
  }
  return meter.measured()
}

export function measureFile(path: string): Promise<Measured> {
  return measure(createReadStream(path))
}

export function isSame(found: Measured, stated: BackupFile & { readonly rows?: number }): boolean {
  return (
    found.bytes === stated.bytes &&
    found.sha256 === stated.sha256 &&
    (stated.rows === undefined || stated.rows === found.rows)
  )
}
