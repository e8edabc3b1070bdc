/** Reads multipart requests: the file is spooled to disk as it arrives, fields stay in memory. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { PublishedUpload, PublishUpload } from './publish-upload.ts'
import { readUpload } from './read-upload.ts'
import { type Inspector, readSpooled, type Spool, type SpoolFile } from './spool.ts'

export interface FormFile extends SpoolFile {
  /**
   * Publishes the file until it is closed. Resolves with its URL, which ends in `filename`; every
   * call resolves with the same one. Rejects with GatewayError 503.
   */
  publish(filename: string): Promise<string>
}

export interface Form {
  readonly fields: ReadonlyMap<string, string>
  readonly file: FormFile
}

export interface FormOptions {
  /** The owner of the file. */
  readonly accountId: string
  readonly bytesMax: number
  readonly inspector: Inspector
}

export interface FormReader {
  /**
   * Reads a whole form with one file, `file`; fields may precede or follow it. `content` is the
   * request's body, decoded. Rejects with
   * GatewayError 400, 413, 415 or 503, or with the inspector's error.
   */
  read(request: IncomingMessage, content: Readable, options: FormOptions): Promise<Form>
}

export function createForms(spool: Spool, publishUpload: PublishUpload): FormReader {
  return {
    async read(request, content, { accountId, bytesMax, inspector }) {
      let spooling: Promise<SpoolFile> | undefined
      try {
        return await readUpload(request, content, {
          async take(_filename, file, fields) {
            spooling = spool.take(file, bytesMax, inspector)
            return { fields, file: toFormFile(await spooling, accountId, publishUpload) }
          },
        })
      } catch (error) {
        // A part after the file can fail the form while the file is still being written.
        const file = await spooling?.catch(() => undefined)
        await file?.close()
        throw error
      }
    },
  }
}

function toFormFile(file: SpoolFile, accountId: string, publishUpload: PublishUpload): FormFile {
  let publishing: Promise<PublishedUpload> | undefined
  return {
    ...file,
    async publish(filename) {
      publishing ??= publishUpload({
        accountId,
        filename,
        bytes: file.bytes,
        content: readSpooled(file),
      })
      return (await publishing).url
    },
    async close() {
      const published = await publishing?.catch(() => undefined)
      await published?.end()
      await file.close()
    },
  }
}
