/**
 * How many tokens an interpretation takes, from the length of its audio: the most it should come
 * to, for its hold, and what is charged where the vendor stated no usage.
 */
import type { Quantities } from '../../lib/units.ts'
import type { Mode } from './read-order.ts'
import { BYTES_PER_SECOND } from './read-wav.ts'

/** One for each 160 ms of audio. */
const INPUT_PER_SECOND = 6.25
/** Beyond the audio's own: what a vendor rounds up or adds at the ends. */
const INPUT_MARGIN = 1.1
const INPUT_LEAST = 10
/** The fastest of speakers, a token for each character. */
const TEXT_PER_SECOND_MOST = 25
/** Speech that takes twice as long as its source. */
const SPEECH_PER_SECOND_MOST = 2 * INPUT_PER_SECOND
const OUTPUT_LEAST = 50
/** Of text in the languages of the table, on the average. */
const BYTES_PER_TOKEN = 3
/** Opus speech in Ogg. */
const SPEECH_BYTES_PER_SECOND = 4_000

/** The upper bound: more than this is an overrun, not a surprise. */
export function boundTokens(audioBytes: number, mode: Mode): Quantities {
  const seconds = audioBytes / BYTES_PER_SECOND
  const perSecond = TEXT_PER_SECOND_MOST + (mode === 's2s' ? SPEECH_PER_SECOND_MOST : 0)
  return {
    input_token: Math.ceil(seconds * INPUT_PER_SECOND * INPUT_MARGIN) + INPUT_LEAST,
    output_token: Math.ceil(seconds * perSecond) + OUTPUT_LEAST,
  }
}

/**
 * Without usage. `outputBytes` are the translated text's or, of speech, the audio's; of what broke
 * off, as much input counts as output came of it.
 */
export function estimateTokens(
  audioBytes: number,
  mode: Mode,
  outputBytes: number,
  isComplete: boolean,
): Quantities {
  const whole = audioBytes / BYTES_PER_SECOND
  const spoken = mode === 's2s' ? outputBytes / SPEECH_BYTES_PER_SECOND : whole
  const heard = isComplete ? whole : Math.min(whole, spoken)
  const output = mode === 's2s' ? spoken * INPUT_PER_SECOND : outputBytes / BYTES_PER_TOKEN
  return {
    input_token: Math.ceil(heard * INPUT_PER_SECOND),
    output_token: Math.ceil(output),
  }
}
