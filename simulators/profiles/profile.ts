// The deviations of a chat vendor from OpenAI's protocol, as data.
import type { Json } from '../kernel/checks.ts'

/** A refusal as it is on the wire. */
export interface WireRefusal {
  status: number
  body: unknown
  headers?: Record<string, string>
}

/** A field that the vendor refuses, and its answer. */
export interface RefusedField {
  isIn: (json: Json) => boolean
  /** Fills in the vendor's error form. */
  status: number
  code: string
  message: string
}

export interface Profile {
  name: string
  /** The path of the API below the vendor's. */
  path: string
  /** `none`: any request is served. */
  auth: 'bearer' | 'api-key' | 'none'
  /** The field of an answer's reasoning; `list`: parts of the content. */
  reasoning: 'reasoning_content' | 'reasoning' | 'list'
  /** Changes the usage from OpenAI's form. */
  usage: (usage: Json, tokens: TokenCounts) => Json
  /** Place of a stream's usage: a last chunk if asked for, else in the chunk that finishes. */
  streamUsage: 'asked' | 'finish' | 'choice' | 'x_groq'
  /** Further members of the first and of every chunk. */
  opening?: Json
  /** Comment lines before the first event. */
  comment?: string
  refuses: readonly RefusedField[]
  /** The body of an error; OpenAI's form by default. */
  error?: (failure: { status: number; code: string; message: string }) => unknown
  wrongKey: WireRefusal
  /** The account has no money, or its quota is used up. */
  outOfMoney?: WireRefusal
  rateLimited?: WireRefusal
}

export interface TokenCounts {
  input: number
  cached: number
  output: number
  reasoning: number
}

/** Keys for each account state that vendors refuse. */
export const PROFILE_KEYS = {
  good: 'sim-good-key',
  outOfMoney: 'sim-empty-key',
  rateLimited: 'sim-busy-key',
}

/** Returns a rule for a field that may not be set. */
export function refusing(
  field: string,
  { status = 400, code = 'invalid_request_error' }: { status?: number; code?: string } = {},
): RefusedField {
  return {
    isIn: (json) => json[field] !== undefined && json[field] !== null,
    status,
    code,
    message: `${field} is not supported`,
  }
}
