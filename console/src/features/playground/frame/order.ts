/** A request of the public API as the form describes it: quoted, sent, and written as code. */

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json | undefined }

export type Fields = Readonly<Record<string, Json | undefined>>

/** A form's file, with its ends: the gateway reads from them how long it is. */
export interface OrderFile {
  readonly content: Blob
  readonly name: string
  /** Rounded up. */
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

/** With its query, below the gateway's own address. */
export function addressOf({ path, query }: PlaygroundRequest): string {
  return query ? `${path}?${new URLSearchParams(query)}` : path
}

/** Without the fields that were left empty: the API's own defaults hold for them. */
export function given(fields: Fields): Fields {
  const filled = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(filled)
}

/** A number field that may be empty. */
export function numberOf(value: number | string): number | undefined {
  return typeof value === 'number' ? value : undefined
}
