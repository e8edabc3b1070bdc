/**
 * The mixed load of the proofs: five kinds of calls, each with a marker that reaches the
 * simulators' book, and the answer as its caller received it.
 */
import type { Dispatcher } from 'undici'
import type { Random } from './random.ts'

export type CallKind = 'chat' | 'chat-stream' | 'speech' | 'search' | 'embedding'

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
  /** The usage stated in the answer, in the units of the book. */
  readonly usage: Readonly<Record<string, number>> | undefined
  readonly milliseconds: number
  /** The request whose answer was repeated, under the same Idempotency-Key. */
  readonly replayOf?: string | undefined
}

const SPEAKER = 'zh_female_vv_uranus_bigtts'
const KINDS: readonly [CallKind, ...CallKind[]] = [
  'chat-stream',
  'chat-stream',
  'chat-stream',
  'chat',
  'speech',
  'speech',
  'search',
  'embedding',
]

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
  const tokens = `[[tokens:${random.integer(5, 200)}]]`
  const messages = [{ role: 'user', content: `Tell me something. ${script} ${tokens}` }]
  switch (kind) {
    case 'chat':
      return {
        marker,
        kind,
        model: 'sim-chat',
        path: '/v1/chat/completions',
        body: { model: 'sim-chat', messages },
      }
    case 'chat-stream': {
      const usage = random.next() < 0.5 ? { stream_options: { include_usage: true } } : {}
      return {
        marker,
        kind,
        model: 'sim-chat',
        path: '/v1/chat/completions',
        body: { model: 'sim-chat', messages, stream: true, ...usage },
      }
    }
    case 'speech': {
      const text = `${'All that is spoken is counted. '.repeat(random.integer(1, 6))}${script}`
      return {
        marker,
        kind,
        model: 'seed-tts-2.0',
        path: '/v1/audio/speech/unidirectional?model=seed-tts-2.0',
        body: { req_params: { text, speaker: SPEAKER, audio_params: { format: 'mp3' } } },
      }
    }
    case 'search':
      return {
        marker,
        kind,
        model: 'vendor-web-search',
        path: '/v1/search',
        body: { Type: 'web', Query: `rivers [[call:${marker}]]`, Count: random.integer(1, 5) },
      }
    case 'embedding':
      return {
        marker,
        kind,
        model: 'sim-embedding',
        path: '/v1/embeddings',
        body: {
          model: 'sim-embedding',
          input: `${'rivers '.repeat(random.integer(1, 50))}${script}`,
        },
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
  const allHeaders = { ...headers, authorization: `Bearer ${key.key}` }
  const observed = await exchange(dispatcher, url, call, allHeaders)
  return { ...call, keyId: key.id, ...observed, milliseconds: performance.now() - start }
}

type Observed = Pick<FinishedCall, 'outcome' | 'status' | 'requestId' | 'usage' | 'replayOf'>

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
    const answer = await dispatcher.request({
      origin: url,
      path: call.path,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(call.body),
    })
    const requestId = answer.headers['x-request-id']
    head = {
      status: answer.statusCode,
      requestId: typeof requestId === 'string' ? requestId : undefined,
      replayOf: answer.headers['idempotent-replayed']?.toString(),
    }
    const text = await answer.body.text()
    if (head.status !== 200) return { ...head, outcome: 'refused', usage: undefined }
    const outcome = hasEnding(call.kind, text) ? 'complete' : 'cut'
    return { ...head, outcome, usage: readUsage(call.kind, text) }
  } catch {
    return { ...head, outcome: head.status === 0 ? 'lost' : 'cut', usage: undefined }
  }
}

const USAGE_FIELDS = [
  ['character', 'text_words'],
  ['input_token', 'prompt_tokens'],
  ['output_token', 'completion_tokens'],
] as const

function hasEnding(kind: CallKind, text: string): boolean {
  if (kind === 'chat-stream') return text.includes('data: [DONE]')
  if (kind === 'speech') return text.includes('"code":20000000')
  return text.endsWith('}')
}

function readUsage(kind: CallKind, text: string): Readonly<Record<string, number>> | undefined {
  if (kind === 'search') return { call: 1 }
  const found = [...text.matchAll(/"usage":(\{"(?:prompt_tokens|text_words)"[^}]*)/g)].at(-1)?.[1]
  if (!found) return undefined
  const usage: Record<string, number> = {}
  for (const [unit, name] of USAGE_FIELDS) {
    const value = new RegExp(`"${name}":(\\d+)`).exec(found)?.[1]
    if (value !== undefined) usage[unit] = Number(value)
  }
  return usage
}
