/** Texts of any length: prose, and texts that are hard for tokenizers and counters. */
import type { Random } from '../../../testbed/random.ts'

type Kind = readonly [name: string, unit: string]

const PROSE = 'All rivers run into the sea, and yet the sea is not full. '
const KINDS: readonly [Kind, ...Kind[]] = [
  ['prose', PROSE],
  ['digits', '31415926535897932384626433832795'],
  ['emoji', '🐟🌊🛶'],
  ['Chinese', '江河都往海里流,海却不满。'],
  ['base64', 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'],
  ['quotes', '\\"{}[]:,\\\\" '],
]

/** Returns about `bytes` bytes; never cuts a character. */
function fill(unit: string, bytes: number): string {
  return unit.repeat(Math.max(1, Math.ceil(bytes / Buffer.byteLength(unit))))
}

export function prose(bytes: number): string {
  return fill(PROSE, bytes).slice(0, Math.max(1, bytes))
}

export function anyText(random: Random, bytes: number): string {
  const [, unit] = random.pick(KINDS)
  return fill(unit, bytes)
}

/** Mostly small, sometimes large: the order of magnitude is drawn, not the size. */
export function drawBytes(random: Random): number {
  const share = random.next()
  if (share < 0.8) return random.integer(50, 2_000)
  if (share < 0.99) return random.integer(2_000, 20_000)
  return random.integer(20_000, 200_000)
}

const PIXEL_BYTES =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg=='
export const PIXEL = `data:image/png;base64,${PIXEL_BYTES}`
