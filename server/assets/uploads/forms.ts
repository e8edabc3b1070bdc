/** Requests that come as a form: their file goes to disk as it arrives, their fields to memory. */
import type { IncomingMessage } from 'node:http'
import type { Lend, Loan } from './publish-upload.ts'
import { readUpload } from './read-upload.ts'
import { type Inspector, readSpooled, type Spool, type SpoolFile } from './spool.ts'

export interface FormFile extends SpoolFile {
  /**
   * Makes it public until it is closed and resolves with its address, which ends in `filename`;
   * the same address however often it is asked for. Throws GatewayError 503.
   */
  publish(filename: string): Promise<string>
}

export interface Form {
  readonly fields: ReadonlyMap<string, string>
  readonly file: FormFile
}

export interface FormOptions {
  /** Whose file it is. */
  readonly accountId: string
  readonly bytesMax: number
  readonly inspector: Inspector
}

export interface FormReader {
  /**
   * Reads a whole form with its one file, `file`; fields may stand before it or after it. Throws
   * GatewayError 400, 413, 415 and 503, and what the inspector throws.
   */
  read(request: IncomingMessage, options: FormOptions): Promise<Form>
}

export function createForms(spool: Spool, lend: Lend): FormReader {
  return {
    async read(request, { accountId, bytesMax, inspector }) {
      let taking: Promise<SpoolFile> | undefined
      try {
        return await readUpload(request, {
          async take(_filename, content, fields) {
            taking = spool.take(content, bytesMax, inspector)
            return { fields, file: lendable(await taking, accountId, lend) }
          },
        })
      } catch (error) {
        // What follows a file can be at fault while the last of it is still being written.
        const file = await taking?.catch(() => undefined)
        await file?.close()
        throw error
      }
    },
  }
}

function lendable(file: SpoolFile, accountId: string, lend: Lend): FormFile {
  let loan: Promise<Loan> | undefined
  return {
    ...file,
    async publish(filename) {
      loan ??= lend({ accountId, filename, bytes: file.bytes, content: readSpooled(file) })
      return (await loan).url
    },
    async close() {
      const lent = await loan?.catch(() => undefined)
      await lent?.end()
      await file.close()
    },
  }
}
