/** Reads audio as it arrives: lines with base64, or the bytes of a file. */
import { ApiError } from '../../../lib/api.ts'
import { readLines } from '../frame/call/read-stream.ts'
import { expectNoError } from '../frame/call/send-order.ts'
import type { ResultReading } from '../frame/capability.ts'
import type { PlaygroundRequest } from '../frame/order.ts'
import type { AudioParts } from '../sound/stream-player.tsx'
import { contentTypeOfFormat, NATIVE } from './values.ts'

export interface Word {
  readonly word: string
  /** Seconds. */
  readonly from: number
  readonly to: number
}

export interface SpeechResult {
  readonly bytes: number
  readonly firstMs: number | undefined
  readonly billed: number | undefined
  readonly words: readonly Word[]
  readonly parts: AudioParts
  /** Set once the audio is complete. */
  readonly sound: Blob | undefined
  readonly format: string
}

/** Throws ApiError for a stream that breaks off. */
export async function readSpeech(
  response: Response,
  reading: ResultReading<SpeechResult>,
  order: PlaygroundRequest,
): Promise<SpeechResult> {
  const format = formatOf(order)
  let result: SpeechResult = {
    bytes: 0,
    firstMs: undefined,
    billed: undefined,
    words: [],
    parts: [],
    sound: undefined,
    format,
  }
  const chunks = order.path === NATIVE ? readNative(response) : readBytes(response)
  for await (const { part, billed, words } of chunks) {
    result = {
      ...result,
      parts: part.length > 0 ? [...result.parts, part] : result.parts,
      bytes: result.bytes + part.length,
      firstMs:
        result.firstMs ?? (part.length > 0 ? performance.now() - reading.startedAt : undefined),
      billed: billed ?? result.billed,
      words: [...result.words, ...words],
    }
    reading.show(result)
  }
  return { ...result, sound: new Blob([...result.parts], { type: contentTypeOfFormat(format) }) }
}

interface SpeechChunk {
  readonly part: Uint8Array<ArrayBuffer>
  readonly billed?: number | undefined
  readonly words: readonly Word[]
}

async function* readBytes(response: Response): AsyncGenerator<SpeechChunk> {
  for await (const part of response.body ?? []) yield { part, words: [] }
}

interface Line {
  readonly code?: number
  readonly message?: string
  readonly data?: string | null
  readonly usage?: { readonly text_words?: number }
  readonly sentence?: {
    readonly words?: readonly {
      readonly word?: string
      readonly startTime?: number
      readonly endTime?: number
    }[]
  }
}

const FINE: readonly (number | undefined)[] = [undefined, 0, 20000000]
const BROKEN_OFF = 502

async function* readNative(response: Response): AsyncGenerator<SpeechChunk> {
  for await (const text of readLines(response)) {
    if (text.trim() === '') continue
    const line: Line = JSON.parse(text)
    expectNoError(line)
    if (!FINE.includes(line.code)) {
      throw new ApiError(BROKEN_OFF, 'upstream', line.message ?? `code ${line.code}`)
    }
    yield { part: decode(line.data ?? ''), billed: line.usage?.text_words, words: wordsOf(line) }
  }
}

function decode(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
}

function wordsOf({ sentence }: Line): Word[] {
  return (sentence?.words ?? []).map(({ word = '', startTime = 0, endTime = 0 }) => {
    return { word, from: startTime, to: endTime }
  })
}

function formatOf({ body }: PlaygroundRequest): string {
  if (typeof body.response_format === 'string') return body.response_format
  const text = JSON.stringify(body.req_params ?? {})
  return /"format":"(\w+)"/.exec(text)?.[1] ?? 'mp3'
}
