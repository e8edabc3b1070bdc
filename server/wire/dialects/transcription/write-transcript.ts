/** Writes a transcript in the five forms of POST /v1/audio/transcriptions, and as events. */
import type { JsonObject } from '../../../base/lib/json.ts'
import type { Segment, Transcript } from './transcript.ts'

/** The requested form; fields of a form are texts. */
export interface TranscriptOrder {
  readonly format: string
  /** `timestamp_granularities[]`, for verbose_json alone. */
  readonly granularities: readonly string[]
  readonly stream: boolean
}

export const PLAIN_TYPES: Readonly<Record<string, string>> = {
  text: 'text/plain; charset=utf-8',
  srt: 'text/plain; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
}

export function readTranscriptOrder(value: Readonly<Record<string, unknown>>): TranscriptOrder {
  const granularities = value['timestamp_granularities[]']
  return {
    format: typeof value.response_format === 'string' ? value.response_format : 'json',
    granularities: typeof granularities === 'string' ? granularities.split(',') : ['segment'],
    stream: value.stream === 'true',
  }
}

export function transcriptType({ format, stream }: TranscriptOrder): string {
  return stream ? 'text/event-stream' : (PLAIN_TYPES[format] ?? 'application/json')
}

export function writeTranscript(transcript: Transcript, order: TranscriptOrder): Buffer {
  return Buffer.from(order.stream ? writeEvents(transcript) : write(transcript, order))
}

function write(transcript: Transcript, order: TranscriptOrder): string {
  switch (order.format) {
    case 'text':
      return `${transcript.text}\n`
    case 'srt':
      return writeSrt(transcript.segments)
    case 'vtt':
      return writeVtt(transcript.segments)
    case 'verbose_json':
      return JSON.stringify({ ...verbose(transcript, order), ...usageOf(transcript) })
    default:
      return JSON.stringify({ text: transcript.text, ...usageOf(transcript) })
  }
}

function usageOf({ seconds }: Transcript): JsonObject {
  return seconds === undefined ? {} : { usage: { type: 'duration', seconds: Math.ceil(seconds) } }
}

function verbose(transcript: Transcript, { granularities }: TranscriptOrder): JsonObject {
  const { language, text, segments } = transcript
  const duration = transcript.seconds ?? segments.at(-1)?.end ?? 0
  const words = segments.flatMap((segment) => segment.words)
  return {
    task: 'transcribe',
    language,
    duration,
    text,
    ...(granularities.includes('segment') ? { segments: segments.map(describeSegment) } : {}),
    ...(granularities.includes('word') ? { words } : {}),
  }
}

/** Placeholders for figures of OpenAI's recognizer, which the dialect requires in each segment. */
const UNKNOWN_FIGURES = {
  seek: 0,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 0,
  no_speech_prob: 0,
}

function describeSegment({ start, end, text }: Segment, id: number): JsonObject {
  return { id, start, end, text, ...UNKNOWN_FIGURES }
}

function writeSrt(segments: readonly Segment[]): string {
  return segments.map((one, index) => `${index + 1}\n${span(one, ',')}\n${one.text}\n\n`).join('')
}

function writeVtt(segments: readonly Segment[]): string {
  const cues = segments.map((one) => `${span(one, '.')}\n${one.text}\n\n`)
  return `WEBVTT\n\n${cues.join('')}`
}

function span({ start, end }: Segment, point: string): string {
  return `${clock(start, point)} --> ${clock(end, point)}`
}

/** Writes a time, whose hours may have more than two digits. */
function clock(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1000)
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const time = [two(ms / 3_600_000), two((ms / 60_000) % 60), two((ms / 1000) % 60)].join(':')
  return `${time}${point}${String(ms % 1000).padStart(3, '0')}`
}

/** Writes events, a delta for each segment, because the recognizer answers all at once. */
/** Characters between two segments. */
const GAP_LENGTH_MAX = 100

function writeEvents(transcript: Transcript): string {
  const { text, segments } = transcript
  const parts = segments.map((segment) => segment.text)
  // The deltas add up to the text, including the spaces between segments.
  let position = 0
  const deltas = parts.flatMap((part, index) => {
    const near = text.slice(position, position + part.length + GAP_LENGTH_MAX)
    const at = near.indexOf(part)
    if (at < 0) return []
    const isLast = index === parts.length - 1
    const delta = isLast ? text.slice(position) : near.slice(0, at + part.length)
    position += delta.length
    return delta === '' ? [] : [delta]
  })
  if (position < text.length) deltas.push(text.slice(position))
  const done = { type: 'transcript.text.done', text, ...usageOf(transcript) }
  return [...deltas.map((delta) => ({ type: 'transcript.text.delta', delta })), done]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('')
}
