/** A request of the public API built by a form: quoted, sent, and shown as code. */

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json | undefined }

export type Fields = Readonly<Record<string, Json | undefined>>

/** A file with its first and last bytes, from which the gateway reads its length. */
export interface OrderFile {
  readonly content: Blob
  readonly name: string
  /** Length, rounded up. */
  readonly seconds: number
  /** In base64. */
  readonly head: string
  readonly tail: string
}

export interface PlaygroundRequest {
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** The JSON body; with a file, the other fields of the form. */
  readonly body: Fields
  readonly file?: OrderFile
}

/** Path below the gateway's address, query included. */
export function addressOf({ path, query }: PlaygroundRequest): string {
  return query ? `${path}?${new URLSearchParams(query)}` : path
}

/** Drops empty fields, so that the API's defaults apply. */
export function dropEmpty(fields: Fields): Fields {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(entries)
}

/** Reads a number field that may be empty. */
export function numberOf(value: number | string): number | undefined {
  return typeof value === 'number' ? value : undefined
}
