/**
 * The mixed load of the proofs: calls of several kinds, each with a marker that reaches the
 * simulators' book, and the answer as its caller received it.
 */
import type { Dispatcher } from 'undici'
import type { Random } from './random.ts'
import { type ReceivedText, receiveBySocket } from './socket-call.ts'

export type CallKind =
  | 'chat'
  | 'chat-stream'
  | 'messages-stream'
  | 'responses-stream'
  /** A response over a WebSocket, which is closed after it. */
  | 'responses-socket'
  | 'image-edit'
  | 'speech'
  | 'search'
  | 'embedding'

export interface PlannedCall {
  readonly marker: string
  readonly kind: CallKind
  readonly model: string
  readonly path: string
  readonly body: object
}

/**
 * complete: the whole answer arrived, including its protocol's end. refused: an error status. cut:
 * the answer began and broke off. lost: no answer at all.
 */
export type Outcome = 'complete' | 'refused' | 'cut' | 'lost'

export interface FinishedCall extends PlannedCall {
  readonly keyId: string
  readonly outcome: Outcome
  readonly status: number
  readonly requestId: string | undefined
  /** The begin of the answer of a call that was refused. */
  readonly refusal?: string
  /** The usage stated in the answer, in the units of the book. */
  readonly usage: Readonly<Record<string, number>> | undefined
  readonly milliseconds: number
  /** The request whose answer was repeated, under the same Idempotency-Key. */
  readonly replayOf?: string | undefined
}

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
const SPEAKER = 'zh_female_vv_uranus_bigtts'
/** Kinds of calls whose answers contain the ids of their requests. */
export const HTTP_KINDS: readonly [CallKind, ...CallKind[]] = [
  'chat-stream',
  'chat-stream',
  'messages-stream',
  'responses-stream',
  'image-edit',
  'chat',
  'speech',
  'speech',
  'search',
  'embedding',
]
const KINDS: readonly [CallKind, ...CallKind[]] = [...HTTP_KINDS, 'responses-socket']

/** Plans a call. Streams last up to `streamMsMax`, so that some are open at any time. */
export function planCall(
  random: Random,
  marker: string,
  kind: CallKind = random.pick(KINDS),
  streamMsMax = 2_500,
): PlannedCall {
  const chunks = random.integer(3, 40)
  const delay = Math.round((random.next() * streamMsMax) / chunks)
  const script = `[[call:${marker}]] [[chunks:${chunks}]] [[chunk-delay:${delay}]]`
  return describeCall(kind, marker, script, random)
}

export function describeCall(
  kind: CallKind,
  marker: string,
  script: string,
  random: Random,
): PlannedCall {
  return { marker, kind, ...describeRequest(kind, marker, script, random) }
}

function describeRequest(
  kind: CallKind,
  marker: string,
  script: string,
  random: Random,
): Pick<PlannedCall, 'model' | 'path' | 'body'> {
  const tokens = `[[tokens:${random.integer(5, 200)}]]`
  const messages = [{ role: 'user', content: `Tell me something. ${script} ${tokens}` }]
  const at = (path: string, model: string, body: object) => ({
    path,
    model,
    body: { model, ...body },
  })
  switch (kind) {
    case 'chat':
      return at('/v1/chat/completions', 'sim-chat', { messages })
    case 'chat-stream': {
      const usage = random.next() < 0.5 ? { stream_options: { include_usage: true } } : {}
      return at('/v1/chat/completions', 'sim-chat', { messages, stream: true, ...usage })
    }
    case 'messages-stream': {
      const model = random.pick(['sim-chat', 'sim-claude'])
      return at('/v1/messages', model, { max_tokens: 1_000, messages, stream: true })
    }
    case 'responses-stream':
      return at('/v1/responses', 'sim-chat', { input: messages, stream: true })
    case 'responses-socket':
      return at('/v1/responses', 'sim-chat', { input: messages })
    case 'image-edit': {
      const images = [{ image_url: `data:image/png;base64,${PNG}` }]
      const prompt = `Add a boat. ${script}`
      return at('/v1/images/edits', 'sim-dall-e', { prompt, images, n: random.integer(1, 3) })
    }
    case 'speech': {
      const text = `${'All that is spoken is counted. '.repeat(random.integer(1, 6))}${script}`
      return {
        model: 'seed-tts-2.0',
        path: '/v1/audio/speech/unidirectional?model=seed-tts-2.0',
        body: { req_params: { text, speaker: SPEAKER, audio_params: { format: 'mp3' } } },
      }
    }
    case 'search':
      return {
        model: 'vendor-web-search',
        path: '/v1/search',
        body: { Type: 'web', Query: `rivers [[call:${marker}]]`, Count: random.integer(1, 5) },
      }
    case 'embedding': {
      const input = `${'rivers '.repeat(random.integer(1, 50))}${script}`
      return at('/v1/embeddings', 'sim-embedding', { input })
    }
  }
}

/** Sends one call and reads its answer to the end. Never rejects. */
export async function sendCall(
  dispatcher: Dispatcher,
  url: string,
  call: PlannedCall,
  key: { readonly id: string; readonly key: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<FinishedCall> {
  const start = performance.now()
  const version = { 'anthropic-version': '2023-06-01' }
  const allHeaders = { ...version, ...headers, authorization: `Bearer ${key.key}` }
  const observed = await exchange(dispatcher, url, call, allHeaders)
  return { ...call, keyId: key.id, ...observed, milliseconds: performance.now() - start }
}

type Observed = Pick<
  FinishedCall,
  'outcome' | 'status' | 'requestId' | 'refusal' | 'usage' | 'replayOf'
>

async function exchange(
  dispatcher: Dispatcher,
  url: string,
  call: PlannedCall,
  headers: Readonly<Record<string, string>>,
): Promise<Observed> {
  let head: Omit<Observed, 'outcome' | 'usage'> = {
    status: 0,
    requestId: undefined,
    replayOf: undefined,
  }
  try {
    const receive = call.kind === 'responses-socket' ? receiveBySocket : request
    const text = await receive({ dispatcher, url, call, headers }, (started) => {
      head = started
    })
    if (head.status !== 200) {
      const refusal = text.slice(0, REFUSAL_CHARACTERS)
      return { ...head, outcome: 'refused', refusal, usage: undefined }
    }
    const outcome = hasEnding(call.kind, text) ? 'complete' : 'cut'
    return { ...head, outcome, usage: readUsage(call.kind, text) }
  } catch {
    return { ...head, outcome: head.status === 0 ? 'lost' : 'cut', usage: undefined }
  }
}

const request: ReceivedText = async ({ dispatcher, url, call, headers }, onHead) => {
  const answer = await dispatcher.request({
    origin: url,
    path: call.path,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(call.body),
  })
  onHead({
    status: answer.statusCode,
    requestId: answer.headers['x-request-id']?.toString(),
    replayOf: answer.headers['idempotent-replayed']?.toString(),
  })
  return await answer.body.text()
}

const USAGE_FIELDS = [
  ['character', 'text_words'],
  ['input_token', 'prompt_tokens'],
  ['output_token', 'completion_tokens'],
  ['input_token', 'input_tokens'],
  ['output_token', 'output_tokens'],
] as const
const REFUSAL_CHARACTERS = 300
/** Longer than any object of usage. */
const USAGE_CHARACTERS = 400

function hasEnding(kind: CallKind, text: string): boolean {
  if (kind === 'chat-stream') return text.includes('data: [DONE]')
  if (kind === 'speech') return text.includes('"code":20000000')
  if (kind === 'messages-stream') return text.includes('"type":"message_stop"')
  if (kind.startsWith('responses')) return text.includes('"type":"response.completed"')
  return text.endsWith('}')
}

function readUsage(kind: CallKind, text: string): Readonly<Record<string, number>> | undefined {
  if (kind === 'search') return { call: 1 }
  const at = text.lastIndexOf('"usage":{')
  if (at === -1) return undefined
  const found = text.slice(at, at + USAGE_CHARACTERS)
  const usage: Record<string, number> = {}
  for (const [unit, name] of USAGE_FIELDS) {
    const value = new RegExp(`"${name}":(\\d+)`).exec(found)?.[1]
    if (value !== undefined) usage[unit] = Number(value)
  }
  return usage
}
