/** Tokens of one kind told as plain tokens, for prices that know no kinds. */
import type { Quantities, Unit } from './units.ts'

/** The plain unit of each kind; a token has one kind, so the sums stay the same. */
const PLAIN: ReadonlyMap<string, Unit> = new Map([
  ['audio_input_token', 'input_token'],
  ['image_input_token', 'input_token'],
  ['video_input_token', 'input_token'],
  ['cached_audio_input_token', 'cached_input_token'],
  ['cached_image_input_token', 'cached_input_token'],
  ['audio_output_token', 'output_token'],
  ['image_output_token', 'output_token'],
])

/** The same tokens; those of kinds that are not `kept` count as plain ones. */
export function foldKinds(quantities: Quantities, kept: (unit: Unit) => boolean): Quantities {
  const folded = new Map<string, number>()
  for (const [unit, count] of Object.entries(quantities)) {
    const plain = kept(unit as Unit) ? undefined : PLAIN.get(unit)
    const name = plain ?? unit
    folded.set(name, (folded.get(name) ?? 0) + count)
  }
  return Object.fromEntries(folded)
}
