/** Takes a sample from all parts of long texts; the rest is counted in proportion. */

/** Shorter texts are counted whole. The hardest text of this length takes a fifth of a second. */
const SAMPLE_CHARACTERS = 64 * 1024
const STRETCH_CHARACTERS = 1024

export interface Sample {
  readonly text: string
  /** The length of all texts divided by that of the sample; 1 if the sample has all of them. */
  readonly times: number
}

export function sampleTexts(texts: readonly string[]): Sample {
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  if (characters <= SAMPLE_CHARACTERS) return { text: texts.join('\n'), times: 1 }
  const share = SAMPLE_CHARACTERS / characters
  const taken: string[] = []
  let takenCharacters = 0
  let due = 0
  for (const text of texts) {
    for (let at = 0; at < text.length; at += STRETCH_CHARACTERS) {
      const length = Math.min(STRETCH_CHARACTERS, text.length - at)
      due += length * share
      if (due < length) continue
      due -= length
      takenCharacters += length
      taken.push(text.slice(at, at + length))
    }
  }
  return { text: taken.join('\n'), times: characters / Math.max(1, takenCharacters) }
}
