/** Reads the result of a minutes task; absent lists are empty. */

export interface MinutesSentence {
  readonly start_ms: number
  readonly speaker: string
  readonly text: string
  readonly translation?: string
}

export interface Chapter {
  readonly start_ms: number
  readonly title: string
  readonly summary: string
}

export interface Todo {
  readonly content: string
  readonly executors?: readonly string[]
  readonly deadline?: string
}

export interface Minutes {
  readonly seconds: number | undefined
  readonly sentences: readonly MinutesSentence[]
  readonly summary: string
  readonly summaryProblem: string
  readonly chapters: readonly Chapter[]
  readonly todos: readonly Todo[]
  readonly questions: readonly { readonly question: string; readonly answer: string }[]
}

/** Reads the task's record, which the gateway itself has written. */
export function readMinutes(result: Readonly<Record<string, unknown>>): Minutes {
  const { duration, sentences, summary, chapters, todos, questions, translation } = result
  const translated = new Map(
    listOf<MinutesSentence>(translation).map((one) => [one.start_ms, one.translation ?? '']),
  )
  return {
    seconds: typeof duration === 'number' ? duration : undefined,
    sentences: listOf<MinutesSentence>(sentences).map((one) => {
      const other = translated.get(one.start_ms)
      return other ? { ...one, translation: other } : one
    }),
    summary: typeof summary === 'string' ? summary : '',
    summaryProblem:
      typeof result.summary_model_error === 'string' ? result.summary_model_error : '',
    chapters: listOf<Chapter>(chapters),
    todos: listOf<Todo>(todos),
    questions: listOf(questions),
  }
}

function listOf<Item>(value: unknown): readonly Item[] {
  return Array.isArray(value) ? (value as readonly Item[]) : []
}

/** 83_000 → 1:23. */
export function clockOf(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000)
  const minutes = Math.floor(seconds / 60)
  return `${minutes}:${String(seconds % 60).padStart(2, '0')}`
}
