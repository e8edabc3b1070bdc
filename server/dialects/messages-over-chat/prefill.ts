/** Removes the caller's own beginning of an answer where the model repeats it. */
export interface PrefillCutter {
  /** Takes text of the answer; returns the part of it that is new. */
  readonly push: (text: string) => string
  /** Returns text that was held back as a possible repetition. */
  readonly end: () => string
}

export function createPrefillCutter(prefill: string): PrefillCutter {
  let held = ''
  let isOver = prefill === ''

  return {
    push(text) {
      if (isOver) return text
      held += text
      if (prefill.startsWith(held) && held.length < prefill.length) return ''
      isOver = true
      const rest = held.startsWith(prefill) ? held.slice(prefill.length) : held
      held = ''
      return rest
    },
    end() {
      const rest = held
      held = ''
      isOver = true
      return rest
    },
  }
}
