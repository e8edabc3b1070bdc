/** Requests that come as a form: their file goes to disk as it arrives, their fields to memory. */
import type { IncomingMessage } from 'node:http'
import { readUpload } from './read-upload.ts'
import type { Inspector, Spool, SpooledFile } from './spool.ts'

export interface Form {
  readonly fields: ReadonlyMap<string, string>
  readonly file: SpooledFile
}

export interface Forms {
  /**
   * Reads a whole form with its one file, `file`; fields may stand before it or after it. Throws
   * GatewayError 400, 413, 415 and 503, and what the inspector throws.
   */
  read(request: IncomingMessage, bytesMax: number, inspector: Inspector): Promise<Form>
}

export function createForms(spool: Spool): Forms {
  return {
    async read(request, bytesMax, inspector) {
      let file: SpooledFile | undefined
      try {
        return await readUpload(request, {
          async take(_filename, content, fields) {
            file = await spool.take(content, bytesMax, inspector)
            return { fields, file }
          },
        })
      } catch (error) {
        await file?.close()
        throw error
      }
    },
  }
}
