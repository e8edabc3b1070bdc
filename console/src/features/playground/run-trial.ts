/** Makes a real call of the public API and reads its answer in the way it is shown. */
import { ApiError } from '../../lib/api.ts'
import { addressOf, type Trial } from './ways.ts'

export interface Outcome {
  readonly requestId: string
  readonly milliseconds: number
  readonly text?: string
  readonly pictures?: readonly string[]
  readonly sound?: string
  readonly taskId?: string
}

interface Options {
  readonly key: string
  readonly signal: AbortSignal
  /** A streamed answer so far. */
  readonly onText: (text: string) => void
}

/** Throws ApiError with the API's own words. */
export async function runTrial(trial: Trial, { key, signal, onText }: Options): Promise<Outcome> {
  const start = performance.now()
  const response = await fetch(addressOf(trial), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(trial.way.body(trial.model, trial.text)),
    credentials: 'omit',
    signal,
  })
  const requestId = response.headers.get('x-request-id') ?? ''
  if (!response.ok) throw await readRefusal(response, requestId)
  const content = await READERS[trial.way.shown](response, onText)
  return { requestId, milliseconds: performance.now() - start, ...content }
}

type Content = Omit<Outcome, 'requestId' | 'milliseconds'>
type Reader = (response: Response, onText: (text: string) => void) => Promise<Content>

const READERS: Readonly<Record<Trial['way']['shown'], Reader>> = {
  stream: readChat,
  json: async (response) => ({ text: JSON.stringify(await response.json(), null, 2) }),
  image: async (response) => {
    const { data }: { data: { url?: string; b64_json?: string }[] } = await response.json()
    const toSource = ({ url, b64_json }: (typeof data)[number]) =>
      url ?? `data:image/png;base64,${b64_json}`
    return { pictures: data.map(toSource) }
  },
  sound: async (response) => {
    const lines = (await response.text()).split('\n').filter(Boolean)
    const parts = lines.map((line) => (JSON.parse(line) as { data?: string | null }).data ?? '')
    const bytes = parts.map((part) => Uint8Array.from(atob(part), (char) => char.charCodeAt(0)))
    return { sound: URL.createObjectURL(new Blob(bytes, { type: 'audio/mpeg' })) }
  },
  task: async (response) => ({ taskId: ((await response.json()) as { id: string }).id }),
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
}

async function readChat(response: Response, onText: (text: string) => void): Promise<Content> {
  let text = ''
  let rest = ''
  const stream = response.body?.pipeThrough(new TextDecoderStream())
  for await (const part of stream ?? []) {
    const lines = (rest + part).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue
      const chunk = JSON.parse(line.slice('data: '.length)) as Chunk
      text += chunk.choices?.[0]?.delta?.content ?? ''
    }
    onText(text)
  }
  return { text }
}

async function readRefusal(response: Response, requestId: string): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as {
    readonly error?: string | { readonly message?: string }
  }
  const message = typeof body.error === 'string' ? body.error : body.error?.message
  return new ApiError(response.status, 'refused', message ?? response.statusText, requestId)
}
