/** Estimates a speech request in every unit that its model may be priced by. */

import { asString } from '../../../base/lib/json.ts'
import { estimateTokens } from '../../../base/lib/text/estimate-tokens.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import type { RelayReport } from '../relay.ts'
import { wantsEvents } from './formats.ts'
import { SAMPLE_BYTES_PER_SECOND } from './measure-speech.ts'

/** A letter takes a fourteenth of a second, a character that is a syllable a quarter. */
const LETTER_SECONDS = 1 / 14
const SYLLABLE_SECONDS = 1 / 4
const LAST_ALPHABETIC = 0x2e7f
/** Tokens of speech: about 1,250 a minute. */
const TOKENS_PER_SECOND = 21

/** Returns the quantities, rounded up. Characters are exact; the rest is an estimate. */
export function estimateSynthesis(value: Readonly<Record<string, unknown>>): Quantities {
  const input = asString(value.input) ?? ''
  const speed = typeof value.speed === 'number' && value.speed > 0 ? value.speed : 1
  let characters = 0
  let seconds = 0
  for (const character of input) {
    characters += 1
    const isLetter = (character.codePointAt(0) ?? 0) <= LAST_ALPHABETIC
    seconds += isLetter ? LETTER_SECONDS : SYLLABLE_SECONDS
  }
  const speechSeconds = seconds / speed
  return {
    character: characters,
    second: Math.ceil(speechSeconds),
    input_token: estimateTokens(input + (asString(value.instructions) ?? '')),
    audio_output_token: Math.ceil(speechSeconds * TOKENS_PER_SECOND),
  }
}

/**
 * Estimates speech by its audio: how fast a text is spoken depends on its signs and on the caller's
 * instructions, and not every model obeys `speed`. What cannot be measured has at least the length
 * of samples that are not compressed.
 */
export function estimateSpoken(
  value: Readonly<Record<string, unknown>>,
  { audioSeconds, outputBytes }: Pick<RelayReport, 'audioSeconds' | 'outputBytes'>,
): Quantities {
  const guess = estimateSynthesis(value)
  if (wantsEvents(value)) return guess
  const least = outputBytes / SAMPLE_BYTES_PER_SECOND
  const seconds = audioSeconds ?? (least > (guess.second ?? 0) ? least : undefined)
  if (seconds === undefined) return guess
  return {
    ...guess,
    second: Math.ceil(seconds),
    audio_output_token: Math.ceil(seconds * TOKENS_PER_SECOND),
  }
}
