/** The part of a call's work that its answer states after a fault. */
import { BENDS } from '../answers/bend.ts'
import { CUTS } from '../answers/broken.ts'
import type { Case } from '../plan.ts'
import type { Work } from './bill.ts'

const OUTPUT = /^(audio_|image_)?output_token$/

/** Returns undefined if nothing is stated. */
export function statedWork({ answer, expected }: Case, work: Work, path: string): Work | undefined {
  const { breakage } = answer
  if (breakage === undefined || expected === 'full') return work
  if (expected === 'unpriced' || expected === 'beyond') return work
  const bend = BENDS[breakage]
  if (bend) return partOf(work, bend.remains)
  // A message states its input before its first word.
  const cut = CUTS[breakage]
  const isMessage = /(?:\/messages|\/invoke[a-z-]*|[rR]awPredict)$/.test(path)
  if (isMessage && (cut || breakage === 'an error event')) return partOf(work, 'input')
  if (breakage === 'compressed' || breakage === 'a drip' || breakage === 'silence') return work
  return undefined
}

function partOf(work: Work, remains: 'none' | 'input' | 'output'): Work | undefined {
  if (remains === 'none') return undefined
  const isOutput = remains === 'output'
  const entries = Object.entries(work.counts).filter(([unit]) => OUTPUT.test(unit) === isOutput)
  return { counts: Object.fromEntries(entries), served: work.served, passes: [] }
}
