/** Common parts of the three code snippets. */
import type { PlaygroundRequest } from '../frame/order.ts'

/** Placeholder for the reader's own key; no snippet ever contains one. */
export const KEY_VARIABLE = 'TRIBUTARY_KEY'

export interface SnippetOptions {
  readonly order: PlaygroundRequest
  /** The gateway's own address, without a final `/`. */
  readonly origin: string
}

/** Kind of the response: decides how the code handles it. */
export type AnswerKind = 'json' | 'events' | 'lines' | 'sound' | 'task'

const TASK_PATHS: readonly string[] = [
  '/v1/videos/generations',
  '/v1/images/async',
  '/v1/audio/minutes',
]

export function answerKindOf({ path, body }: PlaygroundRequest): AnswerKind {
  if (TASK_PATHS.includes(path)) return 'task'
  if (path === '/v1/audio/speech/unidirectional') return 'lines'
  if (path === '/v1/audio/speech' || body.mode === 's2s') return 'sound'
  return body.stream === true || body.stream === 'true' ? 'events' : 'json'
}

/** Returns the file name under which the code stores audio. */
export function soundFileOf({ path, body }: PlaygroundRequest): string {
  if (path === '/v1/audio/translations') return 'translation.ogg'
  const native = body.req_params
  const inner = isFields(native) && isFields(native.audio_params) ? native.audio_params.format : ''
  const format = String(inner || body.response_format || 'mp3')
  return `speech.${format === 'ogg_opus' || format === 'opus' ? 'ogg' : format}`
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
