// The two messages of the interpretation service (6561/1756902), with the field numbers its clients
// use. Every binary frame is one message, without any envelope.
import {
  bytesOf,
  chars,
  type Fields,
  float,
  message,
  messageOf,
  numberOf,
  readFields,
  textOf,
  whole,
} from './fields.ts'

export const EVENTS = {
  StartSession: 100,
  CancelSession: 101,
  FinishSession: 102,
  SessionStarted: 150,
  SessionCanceled: 151,
  SessionFinished: 152,
  SessionFailed: 153,
  UsageResponse: 154,
  TaskRequest: 200,
  UpdateConfig: 201,
  AudioMuted: 250,
  TTSSentenceStart: 350,
  TTSSentenceEnd: 351,
  TTSResponse: 352,
  TTSEnded: 359,
  SourceSubtitleStart: 650,
  SourceSubtitleResponse: 651,
  SourceSubtitleEnd: 652,
  TranslationSubtitleStart: 653,
  TranslationSubtitleResponse: 654,
  TranslationSubtitleEnd: 655,
} as const

export type EventName = keyof typeof EVENTS

export interface AudioShape {
  format: string
  codec: string
  rate: number
  bits: number
  channel: number
}

export interface ClientMessage {
  event: number
  sessionId: string
  source: AudioShape
  target: AudioShape
  audio: Buffer
  mode: string
  sourceLanguage: string
  targetLanguage: string
  speaker: string
  speechRate: number
}

/** Throws if the bytes are not a message. */
export function readMessage(bytes: Buffer): ClientMessage {
  const fields = readFields(bytes)
  const source = messageOf(fields, 4)
  const request = messageOf(fields, 6)
  return {
    event: numberOf(fields, 2),
    sessionId: textOf(messageOf(fields, 1), 6),
    source: shapeOf(source),
    target: shapeOf(messageOf(fields, 5)),
    audio: bytesOf(source, 14),
    mode: textOf(request, 1),
    sourceLanguage: textOf(request, 2),
    targetLanguage: textOf(request, 3),
    speaker: textOf(request, 4),
    speechRate: numberOf(request, 7),
  }
}

function shapeOf(audio: Fields): AudioShape {
  return {
    format: textOf(audio, 4),
    codec: textOf(audio, 5),
    rate: numberOf(audio, 7),
    bits: numberOf(audio, 8),
    channel: numberOf(audio, 9),
  }
}

export interface Billing {
  /** By unit, in the order in which the service lists them. */
  items: Record<string, number>
  durationMs: number
}

export interface ServerMessage {
  event: EventName
  sessionId: string
  sequence: number
  code?: number
  message?: string
  billing?: Billing | undefined
  data?: Buffer
  text?: string
  startMs?: number
  endMs?: number
  mutedMs?: number
}

export function writeMessage(one: ServerMessage): Buffer {
  const billing = one.billing === undefined ? [] : [message(5, ...billingOf(one.billing))]
  return Buffer.concat([
    message(
      1,
      chars(1, one.sessionId),
      whole(2, one.sequence),
      whole(3, one.code ?? 0),
      chars(4, one.message ?? ''),
      ...billing,
    ),
    whole(2, EVENTS[one.event]),
    chars(3, one.data ?? ''),
    chars(4, one.text ?? ''),
    whole(5, one.startMs ?? 0),
    whole(6, one.endMs ?? 0),
    whole(8, one.mutedMs ?? 0),
  ])
}

function billingOf({ items, durationMs }: Billing): Buffer[] {
  const listed = Object.entries(items).map(([unit, quantity]) =>
    message(1, chars(1, unit), float(2, quantity)),
  )
  return [...listed, whole(2, durationMs)]
}
