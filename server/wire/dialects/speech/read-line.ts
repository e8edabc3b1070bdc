/**
 * Reads usage, end and errors from one object of a speech stream. An audio line, tens of kilobytes
 * of base64, has none of them: its keys are scanned and it is not parsed.
 */
import { asString, isObject, member, tryParseJson } from '../../../base/lib/json.ts'
import { scanMembers } from '../json-scan.ts'
import { readCount } from '../usage/read-count.ts'
import { SPEECH_FINISHED } from './errors.ts'

export interface SpeechLine {
  /** Bytes of audio, decoded. */
  readonly audioBytes: number
  /** `usage.text_words`, where the line states it. */
  readonly characters?: number
  readonly finished: boolean
  readonly error?: { readonly code: number; readonly message: string }
}

const ZERO = 0x30
const QUOTE = 0x22

/** Reads one object. Broken JSON states nothing. */
export function readSpeechLine(bytes: Buffer): SpeechLine {
  let audioBytes = 0
  let isPlain = true
  for (const { key, valueStart, valueEnd } of scanMembers(bytes, 0)) {
    if (key === 'data') audioBytes = countAudioBytes(bytes, valueStart, valueEnd)
    else if (key === 'usage' || key === 'header') isPlain = false
    else if (key === 'code') isPlain &&= valueEnd - valueStart === 1 && bytes[valueStart] === ZERO
  }
  if (isPlain) return { audioBytes, finished: false }
  return { audioBytes, ...readDocument(tryParseJson(bytes)) }
}

/** Counts the decoded bytes: base64 has four characters for three. `data` may be null. */
function countAudioBytes(bytes: Buffer, start: number, end: number): number {
  return bytes[start] === QUOTE ? Math.floor(((end - start - 2) * 3) / 4) : 0
}

/** Reads a flat error, or one of the vendor's platform, which is nested in `header`. */
function readDocument(document: unknown): Omit<SpeechLine, 'audioBytes'> {
  const source = isObject(member(document, 'header')) ? member(document, 'header') : document
  const code = Number(member(source, 'code') ?? 0)
  const words = readCount(member(member(document, 'usage'), 'text_words'))
  const characters = words === undefined ? {} : { characters: words }
  if (code === SPEECH_FINISHED) return { ...characters, finished: true }
  if (code === 0 || Number.isNaN(code)) return { ...characters, finished: false }
  const message = asString(member(source, 'message')) ?? ''
  return { ...characters, finished: false, error: { code, message } }
}
