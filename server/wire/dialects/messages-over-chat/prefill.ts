/** Removes the caller's own beginning of an answer where the model repeats it. */
export interface PrefillCutter {
  /** Takes text of the answer; returns the part of it that is new. */
  readonly push: (text: string) => string
  /** Returns text that was held back as a possible repetition. */
  readonly end: () => string
}

export function createPrefillCutter(prefill: string): PrefillCutter {
  /** Characters of it that were repeated, and are held back. */
  let repeated = 0
  let isOver = prefill === ''

  function takeHeld(): string {
    const held = prefill.slice(0, repeated)
    repeated = 0
    isOver = true
    return held
  }

  return {
    push(text) {
      if (isOver) return text
      if (repeated + text.length < prefill.length && prefill.startsWith(text, repeated)) {
        repeated += text.length
        return ''
      }
      const said = takeHeld() + text
      return said.startsWith(prefill) ? said.slice(prefill.length) : said
    },
    end: takeHeld,
  }
}
