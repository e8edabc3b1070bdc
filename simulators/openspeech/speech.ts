// POST /api/v3/tts/unidirectional: one JSON object per line, or the same as server-sent events.
import { isObject, text } from '../kernel/checks.ts'
import { namedEvent } from '../kernel/events.ts'
import type { Exchange, Frame, Reply, Route } from '../kernel/exchange.ts'
import { readScript } from '../kernel/script.ts'
import { usageSequence } from '../kernel/usage.ts'
import { type Rendering, render } from './audio/render.ts'
import type { SpeechOptions } from './credentials.ts'
import { flatError } from './errors.ts'
import { readSpeech, type SpeechRequest } from './request.ts'
import { sentencesOf } from './subtitles.ts'

export function speechRoutes(options: SpeechOptions): Route[] {
  const route = (path: string, events: boolean): Route => ({
    method: 'POST',
    path,
    operation: 'tts.unidirectional',
    text: spokenText,
    handle: (exchange) => speak(exchange, options, events),
  })
  return [route('/api/v3/tts/unidirectional', false), route('/api/v3/tts/unidirectional/sse', true)]
}

function spokenText(json: unknown): string {
  const parameters = isObject(json) ? json.req_params : undefined
  if (!isObject(parameters)) return ''
  return text(parameters.ssml) === '' ? text(parameters.text) : text(parameters.ssml)
}

function speak(exchange: Exchange, options: SpeechOptions, events: boolean): Reply {
  const resource = String(exchange.request.headers['x-api-resource-id'])
  const request = readSpeech(exchange.json, resource, options.maxCharacters)
  const characters = [...request.billedText].length
  const usage = { text_words: characters }
  const usageRequested = asksForUsage(exchange)
  const usages = usageRequested ? usageSequence(usage, exchange.scenario.text('usage')) : []
  const spoken = readScript(request.billedText).plain
  const rendering = render(spoken, request.voice, exchange.script.chunks)
  const lines = linesOf(rendering, request, characters)
  for (const early of usages.slice(0, -1)) {
    lines.push({ value: { code: 0, message: '', data: null, usage: early }, event: '352' })
  }
  const last = usages.at(-1)
  const end = { code: 20000000, message: 'OK', data: null }
  lines.push({ value: last === undefined ? end : { ...end, usage: last }, event: '152' })
  const padding = (bytes: number): Frame => {
    const value = { code: 0, message: '', data: null, padding: 'x'.repeat(bytes) }
    return framed({ value, event: '352' }, events)
  }
  return {
    kind: 'stream',
    status: 200,
    headers: { 'content-type': events ? 'text/event-stream' : 'application/json' },
    frames: lines.map((line) => framed(line, events)),
    charge: {
      model: resource,
      units: { character: characters },
      grows: 'character',
      ...(usageRequested ? { reported: last } : {}),
    },
    error: (_, failure) => {
      const { data } = flatError(exchange, failure)
      return [events ? namedEvent('153', JSON.parse(String(data))) : { data }]
    },
    padding,
  }
}

interface Line {
  value: Record<string, unknown>
  event: string
  units?: number
}

function framed(line: Line, events: boolean): Frame {
  if (events) return namedEvent(line.event, line.value, line.units)
  const data = `${JSON.stringify(line.value)}\n`
  return line.units === undefined ? { data } : { data, units: line.units }
}

/** Returns audio, each followed by the sentences that it completes. */
function linesOf(rendering: Rendering, request: SpeechRequest, characters: number): Line[] {
  const { fragments, timeline } = rendering
  const sentences = request.subtitles ? sentencesOf(timeline) : []
  const lines: Line[] = []
  let counted = 0
  for (const [index, { audio, end }] of fragments.entries()) {
    const upTo = Math.round(((index + 1) * characters) / fragments.length)
    const value = { code: 0, message: '', data: audio.toString('base64') }
    lines.push({ value, event: '352', units: upTo - counted })
    counted = upTo
    while (sentences[0] && (sentences[0].end <= end || index === fragments.length - 1)) {
      lines.push({ value: sentences.shift()?.line ?? {}, event: '351' })
    }
  }
  return lines
}

function asksForUsage(exchange: Exchange): boolean {
  const header = exchange.request.headers['x-control-require-usage-tokens-return']
  if (typeof header !== 'string') return false
  const names = header.split(',').map((name) => name.trim())
  return names.includes('*') || names.includes('text_words')
}
