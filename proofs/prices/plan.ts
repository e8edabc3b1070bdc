/**
 * A case of the proof: what is sent, what the vendor does with it, and what must come of it. All
 * of it is decided before anything is sent, from a seed, so that a case can be run again alone.
 */

import type { Counts, Served } from './sheet.ts'
import type { Pass, Work } from './vendor/bill.ts'

export type Dialect =
  | 'chat'
  | 'responses'
  | 'messages'
  | 'embeddings'
  | 'images'
  | 'speech'
  | 'video'

/** Planned behaviour of the vendor. Input is counted on arrival, by the received bytes. */
export interface WorkPlan {
  /** Input tokens for 1,000 bytes of the body as received; 1,000 at most. */
  readonly tokensPerThousandBytes: number
  /** Tokens that stand in no body: templates, stored prompts, pictures, files. */
  readonly hiddenInput: number
  /** Thousandths of the input by unit; what is left is `input_token`. */
  readonly shares: Counts
  /** Quantities that do not depend on the request: output, calls, images. */
  readonly fixed: Counts
  /** The part of the output that is reasoning. */
  readonly reasoning: number
  readonly served: Served
  readonly passes: readonly Pass[]
  readonly cost?: bigint
  /** The tokens of the chain that this call builds on count as input once more. */
  readonly buildsOn?: number
}

export interface AnswerPlan {
  /** Vendors state the same figures in many forms; see answers/. */
  readonly form: string
  readonly placement: string
  /** Way in which the answer is broken, or absent. */
  readonly breakage?: string
  /** Refused before any work, with this status. */
  readonly refusal?: number
  /** The tier is asked for and the answer keeps silent about it. */
  readonly silent?: boolean
}

/**
 * full: usage is stated and the charge is its worth. beyond: stated and impossible. unpriced:
 * something without a price was stated. part, none: less than all of it was stated. nothing: no
 * work was done. refused: the gateway answers 400 before it sends anything.
 */
export type Expectation = 'full' | 'beyond' | 'unpriced' | 'part' | 'none' | 'nothing' | 'refused'

export interface Case {
  readonly id: number
  readonly dialect: Dialect
  readonly model: string
  /** The names of what is unusual about the request. */
  readonly tricks: readonly string[]
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly stream: boolean
  readonly work: WorkPlan
  readonly answer: AnswerPlan
  readonly expected: Expectation
  /** Tokens that the hold must be for, where no medium replaces bytes of the body. */
  readonly holdsFor?: { readonly input: number; readonly output: number }
  /** The caller leaves after so many bytes of the answer. */
  readonly leavesAfter?: number
  /** The account has so little that the charge may become debt. */
  readonly poor?: boolean
  /** A case that must be over before this one starts, on the same lane. */
  readonly after?: number
}

/** One request as the vendor saw it. */
export interface Arrival {
  readonly caseId: number
  readonly path: string
  readonly bytes: number
  readonly work: Work
  /** Part of it that the answer states; equals `work` when all is stated. */
  readonly stated: Work | undefined
  readonly worth: bigint
  readonly refused: boolean
  answer: string
  /** Everything that was planned has been written. */
  finished: boolean
}

const OPENING = 'case-'
const MARKER = /case-(\d{1,9})-end/

/** Placed in a text that every translation keeps. */
export function markerOf(id: number): string {
  return `${OPENING}${id}-end`
}

export function findMarker(body: Buffer): number | undefined {
  const at = body.indexOf(OPENING)
  if (at < 0) return undefined
  const found = MARKER.exec(body.toString('latin1', at, at + 20))
  return found ? Number(found[1]) : undefined
}
