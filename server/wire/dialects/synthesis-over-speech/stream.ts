/**
 * Translates the lines of a Doubao speech V3 stream into an answer of POST /v1/audio/speech: the
 * bytes of a file, or events. Each fragment is decoded as it arrives.
 */
import { scanMembers } from '../json-scan.ts'
import { createNdjsonSplitter } from '../ndjson.ts'
import type { Relay, RelayReport } from '../relay.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import { speechErrorType } from '../speech/errors.ts'
import { readSpeechLine } from '../speech/read-line.ts'
import { encodeSseEvent } from '../sse.ts'
import { readAudioFormat, wantsEvents } from '../synthesis/formats.ts'
import { printAudioFailure } from '../synthesis/tap.ts'
import { SAMPLE_RATE } from './request.ts'

const HEADER_BYTES = 44
const UNKNOWN_LENGTH = 0xffffffff
const PCM = 1
const BYTES_PER_SAMPLE = 2

interface State {
  out: Buffer[]
  hasAudio: boolean
  characters: number | undefined
  outputBytes: number
  finished: boolean
  error: NonNullable<RelayReport['error']> | undefined
}

const QUOTE = 0x22

/** Creates a relay for one request. Usage is in the unit `character`. */
export function createSynthesisStream(value: Readonly<Record<string, unknown>>): Relay {
  const events = wantsEvents(value)
  const head = readAudioFormat(value) === 'wav' ? openWav(SAMPLE_RATE) : undefined
  const state: State = {
    out: [],
    hasAudio: false,
    characters: undefined,
    outputBytes: 0,
    finished: false,
    error: undefined,
  }
  const write = (audio: Buffer) => state.out.push(events ? deltaOf(audio) : audio)
  const splitter = createNdjsonSplitter({
    onObject(bytes) {
      const line = readSpeechLine(bytes)
      state.characters = line.characters ?? state.characters
      state.finished ||= line.finished
      if (line.error) {
        const { code, message } = line.error
        state.error ??= { type: speechErrorType(code, message), message, code: String(code) }
      }
      if (state.error || line.audioBytes === 0) return
      if (head && !state.hasAudio) write(head)
      state.hasAudio = true
      const audio = audioIn(bytes)
      state.outputBytes += audio.length
      write(audio)
    },
  })
  return {
    push(chunk) {
      splitter.push(chunk)
      return take(state)
    },
    end() {
      splitter.end()
      if (!state.hasAudio && !state.finished) state.error ??= UPSTREAM_ERROR
      if (events && state.finished && !state.error) state.out.push(doneOf(state.characters))
      return take(state)
    },
    fail: (failure) => (events ? printAudioFailure(failure) : undefined),
    report: () => readReport(state),
    heldBytes: splitter.heldBytes,
  }
}

function take(state: State): Buffer | undefined {
  const { out } = state
  state.out = []
  return out.length > 1 ? Buffer.concat(out) : out[0]
}

/** Returns the audio of a line. Some encoders escape the slashes of base64. */
function audioIn(bytes: Buffer): Buffer {
  for (const { key, valueStart, valueEnd } of scanMembers(bytes, 0)) {
    if (key !== 'data' || bytes[valueStart] !== QUOTE) continue
    const text = bytes.toString('latin1', valueStart + 1, valueEnd - 1)
    return Buffer.from(text.replaceAll('\\/', '/'), 'base64')
  }
  return Buffer.alloc(0)
}

function deltaOf(audio: Buffer): Buffer {
  const event = { type: 'speech.audio.delta', audio: audio.toString('base64') }
  return Buffer.from(encodeSseEvent(undefined, JSON.stringify(event)))
}

/** Writes usage in the dialect's form: the billed characters stand for the input tokens. */
function doneOf(characters = 0): Buffer {
  const usage = { input_tokens: characters, output_tokens: 0, total_tokens: characters }
  const event = { type: 'speech.audio.done', usage }
  return Buffer.from(encodeSseEvent(undefined, JSON.stringify(event)))
}

function readReport({ characters, outputBytes, finished, error }: State): RelayReport {
  return {
    ...(characters === undefined ? {} : { usage: { character: characters } }),
    outputBytes,
    finished,
    ...(error === undefined ? {} : { error }),
  }
}

/**
 * Builds the header of a wav whose length is not known yet, as players of streams expect it.
 * Returns the header for 16-bit mono samples. Both lengths are the largest possible.
 */
function openWav(sampleRate: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(UNKNOWN_LENGTH, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(PCM, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * BYTES_PER_SAMPLE, 28)
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32)
  header.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(UNKNOWN_LENGTH, 40)
  return header
}
