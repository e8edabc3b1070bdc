// What the simulators' tests share: one running set of vendors, and a client that speaks to a raw
// socket, since only there can a reset be told from a close and one write from two.
import { after, before } from 'node:test'
import { type Simulators, startSimulators } from '../../simulators/index.ts'
import { type RawAnswer, type RawOptions, rawRequest, sendRaw } from '../support/raw.ts'

export const KEYS = {
  openai: { authorization: 'Bearer sim-openai-key' },
  ark: { authorization: 'Bearer sim-ark-key' },
  search: { authorization: 'Bearer sim-search-key' },
  mediakit: { authorization: 'Bearer sim-mediakit-key' },
  minimax: { authorization: 'Bearer sim-minimax-key' },
  dashscope: { authorization: 'Bearer sim-dashscope-key', 'x-dashscope-async': 'enable' },
  minutes: { 'x-api-key': 'sim-speech-key', 'x-api-resource-id': 'volc.lark.minutes' },
  recognition: { 'x-api-key': 'sim-speech-key', 'x-api-resource-id': 'volc.seedasr.auc' },
  anthropic: { 'x-api-key': 'sim-anthropic-key', 'anthropic-version': '2023-06-01' },
  speech: { 'x-api-key': 'sim-speech-key', 'x-api-resource-id': 'seed-tts-2.0' },
}

export type Headers = Record<string, string>

export interface Json {
  [key: string]: Json
}

/** A list of a loosely typed answer. */
export const list = (value: unknown): Json[] => (Array.isArray(value) ? value : [])

export interface Answer {
  status: number
  headers: Record<string, string>
  text: string
  /** Loosely typed on purpose: tests walk into it and fail where it is not as expected. */
  json: Json
}

export interface Simulated {
  readonly url: string
  readonly running: Simulators
  post: (path: string, headers: Headers, body: unknown) => Promise<Answer>
  get: (path: string, headers?: Headers, method?: string) => Promise<Answer>
}

/** Starts the vendors before the tests of a file and stops them afterwards. */
export function simulated(options: Partial<Parameters<typeof startSimulators>[0]> = {}): Simulated {
  let running: Simulators | undefined
  before(async () => {
    running = await startSimulators({ port: 0, ...options })
  })
  after(() => running?.stop())
  const current = (): Simulators => {
    if (!running) throw new Error('the simulators have not started')
    return running
  }
  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(current().url + path, init)
    const text = await response.text()
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
      json: text.startsWith('{') && !text.trim().includes('\n') ? JSON.parse(text) : {},
    }
  }
  return {
    get url() {
      return current().url
    },
    get running() {
      return current()
    },
    post: (path, headers, body) => {
      const sent = typeof body === 'string' ? body : JSON.stringify(body)
      return send(path, { method: 'POST', headers, body: sent })
    },
    get: (path, headers = {}, method = 'GET') => send(path, { method, headers }),
  }
}

export interface PiecewiseAnswer extends RawAnswer {
  /** The pieces of the body as they arrived, without the framing of chunked encoding. */
  readonly pieces: readonly Buffer[]
}

/** POSTs over a raw socket and reports how the answer ended. */
export async function rawPost(
  url: string,
  headers: Headers,
  body: unknown,
  options: RawOptions = {},
): Promise<PiecewiseAnswer> {
  const request = rawRequest(new URL(url).pathname, body, headers)
  const answer = await sendRaw(url, request, options)
  const isChunked = /transfer-encoding: chunked/i.test(answer.head)
  const pieces = isChunked ? unchunk(answer.body) : [answer.body]
  return { ...answer, pieces, body: Buffer.concat(pieces) }
}

function unchunk(framed: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < framed.length; ) {
    const line = framed.indexOf('\r\n', at)
    if (line < 0) break
    const size = Number.parseInt(framed.toString('latin1', at, line), 16)
    if (size === 0) break
    pieces.push(framed.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
  return pieces
}

/** The JSON of every `data:` line, `[DONE]` left out. */
export function dataLines(text: string): Json[] {
  return text
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data: ') && !line.includes('[DONE]'))
    .map((line) => JSON.parse(line.slice(6)))
}

export const chat = (content: string, more: object = {}) => {
  return { model: 'sim-chat', messages: [{ role: 'user', content }], ...more }
}
