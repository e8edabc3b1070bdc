/** Reads multipart requests: the file is spooled to disk as it arrives, fields stay in memory. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { readInPieces } from '../../../base/lib/memory/spill-file.ts'
import type { PublishedUpload, PublishUpload } from './publish-upload.ts'
import { readUpload } from './read-upload.ts'
import type { Spool, SpoolFile, SpoolOptions } from './spool.ts'

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

/** The account is the owner of the file. */
export type FormOptions = SpoolOptions

export interface FormReader {
  /**
   * Reads a whole form with one file, `file`; fields may precede or follow it. `content` is the
   * request's body, decoded. Rejects with
   * GatewayError 400, 413, 415, 429 or 503, or with the inspector's error.
   */
  read(request: IncomingMessage, content: Readable, options: FormOptions): Promise<Form>
}

export function createForms(spool: Spool, publishUpload: PublishUpload): FormReader {
  return {
    async read(request, content, options) {
      let spooling: Promise<SpoolFile> | undefined
      try {
        return await readUpload(request, content, {
          async take(_filename, file, { fields }) {
            spooling = spool.take(file, options)
            return { fields, file: toFormFile(await spooling, options.accountId, publishUpload) }
          },
        })
      } catch (error) {
        // A part after the file can invalidate the form while the file is still being written.
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
        content: readInPieces(file),
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
