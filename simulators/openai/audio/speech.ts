// POST /audio/speech of OpenAI: sound as bytes, or as events with usage at their end. Models whose
// name contains `tokens` are billed by tokens, all others by characters.
import { isInteger, isNumber, isObject, type Json, text } from '../../kernel/checks.ts'
import { dataEvent } from '../../kernel/events.ts'
import type { Exchange, Frame, Reply, Route } from '../../kernel/exchange.ts'
import { readScript } from '../../kernel/script.ts'
import { usageSequence } from '../../kernel/usage.ts'
import { tokensOf } from '../../model/tokens.ts'
import { wavHeader } from '../../openspeech/audio/pcm.ts'
import { type Fragment, render, type Voice } from '../../openspeech/audio/render.ts'
import { badType, badValue, invalid, missing, openaiError } from '../errors.ts'
import { type ModelList, unknownModel } from '../models.ts'

const KEYS = new Set([
  'model',
  'input',
  'voice',
  'instructions',
  'response_format',
  'speed',
  'stream_format',
])
/** Formats that these simulators can encode; aac and flac are not among them. */
const TYPES: Record<string, string> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}
const FORMATS = [...Object.keys(TYPES), 'aac', 'flac']
const LONGEST_INPUT = 4096
const UNKNOWN_LENGTH = 0xffffffff
const RATE = 24_000
const TOKENS_IN_SECOND = 20

interface Order {
  model: string
  input: string
  format: string
  speed: number
  events: boolean
}

export function speechRoute(models: ModelList): Route {
  return {
    method: 'POST',
    path: '/audio/speech',
    operation: 'audio.speech',
    text: (json) => (isObject(json) ? text(json.input) : ''),
    handle: (exchange) => speak(exchange, readOrder(exchange.json, models)),
  }
}

function speak(exchange: Exchange, order: Order): Reply {
  const { model, input, format, speed, events } = order
  const voice: Voice = {
    format: format === 'opus' ? 'ogg_opus' : format === 'mp3' ? 'mp3' : 'pcm',
    sampleRate: format === 'opus' ? 48_000 : RATE,
    bitRate: 64_000,
    speed,
    silenceMs: 0,
  }
  const { fragments, timeline } = render(readScript(input).plain, voice, exchange.script.chunks)
  const seconds = timeline.units * timeline.unitSeconds
  const units = unitsOf(model, input, seconds)
  const usages = events
    ? usageSequence(usageOf(input, seconds), exchange.scenario.text('usage'))
    : []
  return {
    kind: 'stream',
    status: 200,
    headers: { 'content-type': events ? 'text/event-stream' : (TYPES[format] ?? '') },
    frames: events ? eventsOf(fragments, format, usages) : piecesOf(fragments, format),
    charge: { model, units, ...(events ? { reported: usages.at(-1) } : {}) },
    error: (_, failure) => (events ? [dataEvent(openaiError(failure))] : []),
    padding: (bytes) => ({ data: Buffer.alloc(events ? 0 : bytes) }),
  }
}

function unitsOf(model: string, input: string, seconds: number): Record<string, number> {
  if (!model.includes('tokens')) return { character: [...input].length }
  const { input_tokens, output_tokens } = usageOf(input, seconds)
  return { input_token: input_tokens, output_token: output_tokens }
}

function usageOf(input: string, seconds: number) {
  const input_tokens = tokensOf(input)
  const output_tokens = Math.ceil(seconds * TOKENS_IN_SECOND)
  return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens }
}

function piecesOf(fragments: Fragment[], format: string): Frame[] {
  const pieces = fragments.map(({ audio }): Frame => ({ data: audio, units: 0 }))
  if (format !== 'wav') return pieces
  const header = wavHeader(0, RATE)
  header.writeUInt32LE(UNKNOWN_LENGTH, 4)
  header.writeUInt32LE(UNKNOWN_LENGTH, 40)
  return [{ data: header }, ...pieces]
}

function eventsOf(fragments: Fragment[], format: string, usages: unknown[]): Frame[] {
  const deltas = piecesOf(fragments, format).map(({ data }) => {
    const audio = Buffer.from(data).toString('base64')
    return dataEvent({ type: 'speech.audio.delta', audio })
  })
  const done = usages.length > 0 ? usages : [undefined]
  return [...deltas, ...done.map((usage) => dataEvent({ type: 'speech.audio.done', usage }))]
}

function readOrder(json: unknown, models: ModelList): Order {
  if (!isObject(json)) throw invalid('', undefined, 'We could not parse the JSON body.')
  for (const key in json) {
    if (KEYS.has(key)) continue
    throw invalid(key, 'unknown_parameter', `Unknown parameter: '${key}'.`)
  }
  const { model, input, voice, speed = 1 } = json
  if (typeof model !== 'string' || !models.has(model)) throw unknownModel(String(model))
  if (input === undefined || input === '') throw missing('input')
  if (typeof input !== 'string') throw badType('input', 'a string')
  if (!isInteger([...input].length, 1, LONGEST_INPUT)) {
    throw invalid('input', 'string_too_long', `'input' has more than ${LONGEST_INPUT} characters.`)
  }
  if (voice === undefined || voice === '') throw missing('voice')
  if (!isNumber(speed, 0.25, 4)) throw badType('speed', 'a number between 0.25 and 4')
  const format = oneOf(json, 'response_format', FORMATS) ?? 'mp3'
  if (!(format in TYPES)) {
    const message = `The simulator cannot make ${format}.`
    throw invalid('response_format', 'unsupported_value', message)
  }
  const events = oneOf(json, 'stream_format', ['audio', 'sse']) === 'sse'
  return { model, input, format, speed: Number(speed), events }
}

function oneOf(json: Json, name: string, allowed: string[]): string | undefined {
  const value = json[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && allowed.includes(value)) return value
  throw badValue(name, value, allowed)
}
