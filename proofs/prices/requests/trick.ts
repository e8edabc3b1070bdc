/** The type of a trick, and helpers that insert tricks into a request. */
import type { Body } from './ordinary.ts'

export interface Trick {
  readonly name: string
  readonly media?: true
  /** Members of the body that are set or replaced. */
  readonly set?: (big: string) => Body
  readonly apply?: (body: Body, big: string) => void
  readonly rewrite?: (text: string, big: string) => string
  /** The output limit in the request after this trick; null: none. */
  readonly limit?: number | null
}

/** Appends parts to the content of the last message. */
export function addParts(body: Body, ...parts: readonly object[]): void {
  const messages = body.messages as { role: string; content: unknown }[]
  const last = messages.at(-1)
  if (!last) return
  const before =
    typeof last.content === 'string'
      ? [{ type: 'text', text: last.content }]
      : (last.content as object[])
  last.content = [...before, ...parts]
}

export function addBefore(body: Body, ...messages: readonly object[]): void {
  body.messages = [...messages, ...(body.messages as object[])]
}
