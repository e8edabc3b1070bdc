/**
 * Attempts of adversarial callers to have a request counted as less than it is: a few of the tricks
 * of its dialect, applied to the parsed body or to its text.
 */
import type { Random } from '../../../testbed/random.ts'
import { anyText, drawBytes } from './filler.ts'
import type { Body } from './ordinary.ts'
import type { Trick } from './trick.ts'
import { ANYWHERE } from './tricks-anywhere.ts'
import { CHAT } from './tricks-chat.ts'
import { MESSAGES, RESPONSES } from './tricks-others.ts'

const TRICKS: Readonly<Record<string, readonly Trick[]>> = {
  chat: [...CHAT, ...ANYWHERE],
  responses: [...RESPONSES, ...ANYWHERE],
  messages: [...MESSAGES, ...ANYWHERE],
  contents: ANYWHERE,
}

export interface Tricked {
  readonly text: string
  readonly names: readonly string[]
  readonly media: boolean
  /** Undefined: unchanged. */
  readonly limit: number | null | undefined
}

/** Applies one to three tricks of the dialect. */
export function playTricks(random: Random, dialect: string, body: Body): Tricked {
  const [first, ...rest] = TRICKS[dialect] ?? []
  if (!first) throw new Error(`no tricks for ${dialect}`)
  const count = random.next() < 0.7 ? 1 : random.integer(2, 3)
  const chosen = new Set(Array.from({ length: count }, () => random.pick([first, ...rest])))
  const big = () => anyText(random, drawBytes(random))
  for (const { set, apply } of chosen) {
    Object.assign(body, set?.(big()))
    apply?.(body, big())
  }
  let text = JSON.stringify(body)
  for (const { rewrite } of chosen) text = rewrite?.(text, big()) ?? text
  const limits = [...chosen].map(({ limit }) => limit).filter((limit) => limit !== undefined)
  return {
    text,
    names: [...chosen].map(({ name }) => `${dialect}: ${name}`),
    media: [...chosen].some(({ media }) => media),
    limit:
      limits.length === 0
        ? undefined
        : limits.includes(null)
          ? null
          : Math.min(...limits.map(Number)),
  }
}
