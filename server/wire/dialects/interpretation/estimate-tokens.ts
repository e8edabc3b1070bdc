/**
 * Estimates the tokens of an interpretation from the length of its audio: the most, for the hold,
 * and the charge where the vendor stated no usage. It does not include seconds: a model that is
 * sold by seconds is charged by those of the audio.
 */
import type { Quantities } from '../../../base/lib/units.ts'
import type { Mode } from './read-order.ts'
import { BYTES_PER_SECOND } from './read-wav.ts'

/** Tokens a second: one for each 160 ms of audio. */
const INPUT_PER_SECOND = 6.25
/** Factor for tokens that a vendor rounds up or adds at the ends. */
const INPUT_MARGIN = 1.1
const INPUT_LEAST = 10
/** Characters a second of the fastest speaker, one token each. */
const TEXT_PER_SECOND_MOST = 25
/** Translated speech takes up to twice as long as its source. */
const SPEECH_PER_SECOND_MOST = 2 * INPUT_PER_SECOND
const OUTPUT_LEAST = 50
/** Bytes of text for each token, the average of the languages in the table. */
const BYTES_PER_TOKEN = 3
/** Bytes a second of Ogg Opus speech. */
const SPEECH_BYTES_PER_SECOND = 4_000

/** Returns the upper bound, for the hold. */
export function boundTokens(audioBytes: number, mode: Mode): Quantities {
  const seconds = audioBytes / BYTES_PER_SECOND
  const perSecond = TEXT_PER_SECOND_MOST + (mode === 's2s' ? SPEECH_PER_SECOND_MOST : 0)
  return {
    second: Math.ceil(seconds),
    input_token: Math.ceil(seconds * INPUT_PER_SECOND * INPUT_MARGIN) + INPUT_LEAST,
    output_token: Math.ceil(seconds * perSecond) + OUTPUT_LEAST,
  }
}

/**
 * Returns the estimate for an answer without usage. `outputBytes` are those of the translated text,
 * or of the spoken audio; for an answer that broke off, input counts in proportion to its output.
 */
export function estimateAudioTokens(
  audioBytes: number,
  mode: Mode,
  outputBytes: number,
  isComplete: boolean,
): Quantities {
  const inputSeconds = audioBytes / BYTES_PER_SECOND
  const speechSeconds = mode === 's2s' ? outputBytes / SPEECH_BYTES_PER_SECOND : inputSeconds
  const countedSeconds = isComplete ? inputSeconds : Math.min(inputSeconds, speechSeconds)
  const output = mode === 's2s' ? speechSeconds * INPUT_PER_SECOND : outputBytes / BYTES_PER_TOKEN
  return {
    second: Math.ceil(countedSeconds),
    input_token: Math.ceil(countedSeconds * INPUT_PER_SECOND),
    output_token: Math.ceil(output),
  }
}
