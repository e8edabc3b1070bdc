/**
 * A case of the proof: the request, the vendor's behaviour, and the expected result. All of it is
 * decided before anything is sent, from a seed, so that a case can be repeated alone.
 */

import type { Counts, Served } from './sheet.ts'
import type { Pass, Work } from './vendor/bill.ts'

export type Dialect =
  | 'chat'
  | 'responses'
  | 'messages'
  /** Google's own, whose path has the model and says whether it streams. */
  | 'contents'
  | 'embeddings'
  | 'rerank'
  | 'images'
  | 'speech'
  /** A form, whose bytes the body has as Latin-1. */
  | 'transcription'
  | 'video'

/** The vendor's planned behaviour. Input is counted on arrival, by the received bytes. */
export interface WorkPlan {
  /** Input tokens for 1,000 bytes of the body as received; 1,000 at most. */
  readonly tokensPerThousandBytes: number
  /** Tokens outside the body: templates, stored prompts, pictures, files. */
  readonly hiddenInput: number
  /** Thousandths of the input by unit; the rest is `input_token`. */
  readonly shares: Counts
  /** Quantities that do not depend on the request: output, calls, images. */
  readonly fixed: Counts
  /** The part of the output that is reasoning. */
  readonly reasoning: number
  readonly served: Served
  readonly passes: readonly Pass[]
  readonly cost?: bigint
  /** The call whose chain of tokens counts as input again. */
  readonly buildsOn?: number
}

export interface AnswerPlan {
  /** The form in which the figures are stated; see answers/. */
  readonly form: string
  readonly placement: string
  /** The fault of the answer. */
  readonly breakage?: string
  /** Refused before any work, with this status. */
  readonly refusal?: number
  /** The request names the tier, but the answer does not. */
  readonly silent?: boolean
}

/**
 * full: usage is stated and the charge is its price. beyond: implausible usage is stated. unpriced:
 * something without a price is stated. part, none: less than all of it is stated. nothing: no work
 * was done. refused: the gateway answers 400 before it sends anything.
 */
export type Expectation = 'full' | 'beyond' | 'unpriced' | 'part' | 'none' | 'nothing' | 'refused'

export interface Case {
  readonly id: number
  readonly dialect: Dialect
  readonly model: string
  /** The names of the request's unusual properties. */
  readonly tricks: readonly string[]
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly stream: boolean
  readonly work: WorkPlan
  readonly answer: AnswerPlan
  readonly expected: Expectation
  /** The tokens that the hold must cover, if no media replace bytes of the body. */
  readonly holdsFor?: { readonly input: number; readonly output: number }
  /** The caller disconnects after so many bytes of the answer. */
  readonly leavesAfter?: number
  /** The balance is so small that the charge may become debt. */
  readonly poor?: boolean
  /** A case that must end before this one starts, in the same worker. */
  readonly after?: number
}

/** One request as the vendor received it. */
export interface Arrival {
  readonly caseId: number
  /** Its hold was taken before this moment. */
  readonly atMs: number
  readonly path: string
  readonly bytes: number
  readonly work: Work
  /** The part of it that the answer states; equals `work` if all is stated. */
  readonly stated: Work | undefined
  readonly worth: bigint
  readonly refused: boolean
  answer: string
  /** True once everything planned has been written. */
  finished: boolean
}

const OPENING = 'case-'
const MARKER = /case-(\d{1,9})-end/

/** Returns the marker of a case, placed in a text that every translation keeps. */
export function markerOf(id: number): string {
  return `${OPENING}${id}-end`
}

export function findMarker(body: Buffer): number | undefined {
  const at = body.indexOf(OPENING)
  if (at < 0) return undefined
  const found = MARKER.exec(body.toString('latin1', at, at + 20))
  return found ? Number(found[1]) : undefined
}
