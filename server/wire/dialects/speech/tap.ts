/**
 * Watches a Doubao speech V3 stream (docs/protocols/volcengine-speech.md#synthesis-stream): the
 * bytes pass unchanged, and the last `usage.text_words`, the end and errors are read on the way.
 */
import { createNdjsonSplitter } from '../ndjson.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import { SPEECH_BUSY, SPEECH_SERVER_ERROR, speechErrorType } from './errors.ts'
import { readSpeechLine } from './read-line.ts'

/**
 * Bytes held back until the stream's first object is whole. An error in its place is far shorter,
 * so it is known before anything is sent to the caller, and another route can be tried.
 */
const FIRST_OBJECT_BYTES = 1024

interface State {
  objects: number
  characters: number | undefined
  audioBytes: number
  finished: boolean
  error: NonNullable<RelayReport['error']> | undefined
  /** The start of the stream until its first object is whole, undefined from then on. */
  waiting: Buffer | undefined
}

/**
 * Creates a relay for one stream. Usage is in the unit `character`; `outputBytes` counts audio. A
 * reported error has the vendor's message, which the caller reads in the stream too.
 */
export function createSpeechTap(): Relay {
  const state: State = {
    objects: 0,
    characters: undefined,
    audioBytes: 0,
    finished: false,
    error: undefined,
    waiting: Buffer.alloc(0),
  }
  const splitter = createNdjsonSplitter({ onObject: (bytes) => readObject(state, bytes) })
  let lastByte: number | undefined

  return {
    push(chunk) {
      splitter.push(chunk)
      lastByte = chunk.at(-1) ?? lastByte
      if (state.waiting === undefined) return chunk
      const bytes = state.waiting.length === 0 ? chunk : Buffer.concat([state.waiting, chunk])
      const isKnown = state.objects > 0 || bytes.length > FIRST_OBJECT_BYTES
      state.waiting = isKnown ? undefined : bytes
      return state.waiting === undefined ? bytes : undefined
    },
    end() {
      splitter.end()
      const rest = takeWaiting(state)
      if (state.finished || state.error) return rest
      // A body without any object is not a synthesis, and is refused if nothing was sent yet.
      if (state.objects === 0) state.error = UPSTREAM_ERROR
      // Without its end object the synthesis was cut off, even if the connection closed normally.
      return printFailure(UPSTREAM_ERROR, rest, rest?.at(-1) ?? lastByte)
    },
    fail(failure) {
      const rest = takeWaiting(state)
      if (state.finished || state.error) return rest
      return printFailure(failure, rest, rest?.at(-1) ?? lastByte)
    },
    report: () => readReport(state),
    heldBytes: splitter.heldBytes,
  }
}

function readObject(state: State, bytes: Buffer): void {
  const line = readSpeechLine(bytes)
  state.objects++
  state.characters = line.characters ?? state.characters
  state.audioBytes += line.audioBytes
  state.finished ||= line.finished
  if (!line.error || state.error) return
  const { code, message } = line.error
  state.error = { type: speechErrorType(code, message), message, code: String(code) }
}

function takeWaiting(state: State): Buffer | undefined {
  const { waiting } = state
  state.waiting = undefined
  return waiting && waiting.length > 0 ? waiting : undefined
}

/** Writes an error in the stream's own form, on a new line even after a line that was cut. */
function printFailure(
  failure: Pick<RelayFailure, 'type' | 'message'>,
  rest: Buffer | undefined,
  lastByte?: number,
): Buffer {
  const code = failure.type === 'rate_limit_error' ? SPEECH_BUSY : SPEECH_SERVER_ERROR
  const isCut = lastByte !== undefined && lastByte !== 0x0a
  const line = `${JSON.stringify({ code, message: failure.message, data: null })}\n`
  return Buffer.concat([rest ?? Buffer.alloc(0), Buffer.from(isCut ? `\n${line}` : line)])
}

function readReport({ characters, audioBytes, finished, error }: State): RelayReport {
  return {
    ...(characters === undefined ? {} : { usage: { character: characters } }),
    outputBytes: audioBytes,
    finished,
    ...(error === undefined ? {} : { error }),
  }
}
