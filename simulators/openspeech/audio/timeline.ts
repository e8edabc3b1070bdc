// The timing of speech. Every Han, kana or hangul character and every word of other scripts becomes
// one syllable: a short tone. Punctuation becomes a pause. So the words of a text can be counted in
// its audio (see `count.ts`), and the subtitles are exact.

export interface Syllable {
  /** The word with the punctuation that follows it. */
  word: string
  pitch: number
  /** In units of the timeline. */
  start: number
  end: number
}

export interface Timeline {
  unitSeconds: number
  units: number
  syllables: Syllable[]
}

const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\p{L}\p{N}]+/gu
const TONE_SECONDS = 0.12
const GAP_SECONDS = 0.08
const PAUSE_SECONDS = 0.2

export interface Pace {
  /** The shortest time for which the format can switch sound on or off. */
  unitSeconds: number
  /** 2 speaks twice as fast. */
  speed: number
  silenceMs: number
}

export function timelineOf(text: string, pace: Pace): Timeline {
  const { unitSeconds, speed } = pace
  const units = (seconds: number) => Math.max(2, Math.round(seconds / speed / unitSeconds))
  const syllables: Syllable[] = []
  const found = [...text.matchAll(WORD)]
  let now = units(GAP_SECONDS)
  for (const [index, match] of found.entries()) {
    const next = found[index + 1]?.index ?? text.length
    const after = text.slice(match.index + match[0].length, next)
    const end = now + units(TONE_SECONDS)
    syllables.push({ word: match[0] + after.trim(), pitch: pitchOf(match[0]), start: now, end })
    now = end + units(GAP_SECONDS) + (/\p{P}/u.test(after) ? units(PAUSE_SECONDS) : 0)
  }
  const silence = Math.round(pace.silenceMs / 1000 / unitSeconds)
  return { unitSeconds, units: now + silence, syllables }
}

/** The same word always sounds the same. */
function pitchOf(word: string): number {
  return [...word].reduce((sum, one) => sum + (one.codePointAt(0) ?? 0), 0) % 8
}

/** Returns the syllable of each unit, `undefined` for silence. */
export function unitsOf(timeline: Timeline): (Syllable | undefined)[] {
  const sounding: (Syllable | undefined)[] = new Array(timeline.units).fill(undefined)
  for (const syllable of timeline.syllables) {
    sounding.fill(syllable, syllable.start, syllable.end)
  }
  return sounding
}
