/** Reads a recording's transcript from a task's untyped result. */

export interface TaskSentence {
  readonly text: string
  readonly speaker: string | undefined
  /** Milliseconds from the recording's beginning. */
  readonly startMs: number | undefined
}

export interface TaskTranscript {
  readonly summary: string | undefined
  readonly sentences: readonly TaskSentence[]
}

/** Returns undefined for a result without speech. */
export function readTaskTranscript(result: unknown): TaskTranscript | undefined {
  if (!isRecord(result)) return undefined
  const { summary, sentences, text } = result
  const readable = Array.isArray(sentences) ? sentences.flatMap(readSentence) : []
  const whole = typeof text === 'string' && text !== '' ? [sentenceOf(text)] : []
  const shown = readable.length > 0 ? readable : whole
  if (shown.length === 0) return undefined
  return { summary: typeof summary === 'string' ? summary : undefined, sentences: shown }
}

function readSentence(value: unknown): TaskSentence[] {
  if (!isRecord(value) || typeof value.text !== 'string') return []
  const { text, speaker, start_ms: start } = value
  return [
    {
      ...sentenceOf(text),
      speaker:
        typeof speaker === 'string' || typeof speaker === 'number' ? `${speaker}` : undefined,
      startMs: typeof start === 'number' ? start : undefined,
    },
  ]
}

function sentenceOf(text: string): TaskSentence {
  return { text, speaker: undefined, startMs: undefined }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** 75_000 → `1:15`. */
export function formatPosition(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
