/**
 * What one object of a speech stream says about money and the stream's end. An audio line is tens
 * of kilobytes of base64 and says nothing of either: its keys are looked at, it is not parsed.
 */
import { asString, isObject, member, tryParseJson } from '../../lib/json.ts'
import { listMembers } from '../json-scan.ts'
import { SPEECH_FINISHED } from './errors.ts'

export interface SpeechLine {
  /** Bytes of audio, decoded. */
  readonly audioBytes: number
  /** `usage.text_words`, when the line states it. */
  readonly characters?: number
  readonly finished: boolean
  readonly error?: { readonly code: number; readonly message: string }
}

const ZERO = 0x30
const QUOTE = 0x22

/** Reads one object. Broken JSON says nothing. */
export function readSpeechLine(bytes: Buffer): SpeechLine {
  let audioBytes = 0
  let isPlain = true
  for (const { key, valueStart, valueEnd } of listMembers(bytes, 0)) {
    if (key === 'data') audioBytes = countAudioBytes(bytes, valueStart, valueEnd)
    else if (key === 'usage' || key === 'header') isPlain = false
    else if (key === 'code') isPlain &&= valueEnd - valueStart === 1 && bytes[valueStart] === ZERO
  }
  if (isPlain) return { audioBytes, finished: false }
  return { audioBytes, ...readDocument(tryParseJson(bytes)) }
}

/** Base64 holds three bytes in four characters; `data` is null in lines without audio. */
function countAudioBytes(bytes: Buffer, start: number, end: number): number {
  return bytes[start] === QUOTE ? Math.floor(((end - start - 2) * 3) / 4) : 0
}

/** Errors are flat; those of the vendor's own gateway are nested in `header`. */
function readDocument(document: unknown): Omit<SpeechLine, 'audioBytes'> {
  const source = isObject(member(document, 'header')) ? member(document, 'header') : document
  const code = Number(member(source, 'code') ?? 0)
  const words = member(member(document, 'usage'), 'text_words')
  const characters = typeof words === 'number' ? { characters: words } : {}
  if (code === SPEECH_FINISHED) return { ...characters, finished: true }
  if (code === 0 || Number.isNaN(code)) return { ...characters, finished: false }
  const message = asString(member(source, 'message')) ?? ''
  return { ...characters, finished: false, error: { code, message } }
}
