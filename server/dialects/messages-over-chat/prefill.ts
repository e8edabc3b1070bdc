/** Takes back the beginning of an answer that the caller itself wrote and the model repeats. */
export interface PrefillCutter {
  /** Text of the answer in; what is new of it out. */
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
