/**
 * Makes calls from a gateway to itself, with a model, an account and a vendor that exist only for
 * this purpose. They run the code of real calls, down to the sockets, and are neither counted nor
 * stored.
 */
import { once } from 'node:events'
import { createListener } from '../../../base/http/listener.ts'
import { newId } from '../../../base/lib/ids.ts'
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from '../../../base/lib/process/node-http.ts'
import { createFairSlots } from '../../../base/lib/queues/fair-slots.ts'
import { createApiKey, presentKey } from '../../../base/lib/secrets/api-key.ts'
import type { Model } from '../../../money/catalog/catalog.ts'
import { USUAL_UPSTREAM } from '../../../wire/upstreams/index.ts'
import { createChannelHealth } from '../../../work/pipeline/load/channel-health.ts'
import { createChannelSpending } from '../../../work/pipeline/load/channel-spending.ts'
import { createInFlight } from '../../../work/pipeline/load/in-flight.ts'
import { createLimiter } from '../../../work/pipeline/load/limiter.ts'
import { createRetryBudget } from '../../../work/pipeline/load/retry-budget.ts'
import { meter } from '../../../work/pipeline/meter.ts'
import type { Services } from '../../../work/pipeline/services.ts'
import { chatCompletions } from '../text/chat-completions.ts'

/** They run together, every other one streamed. More would not make the first real ones faster. */
const CALLS = 4
/** One account may use only a share of the slots, so there are more slots than calls. */
const SLOTS = 100
/**
 * The server and the vendor are this process: a call that takes longer is stuck. The start itself
 * waits less, and on a machine that starts many things at once a call may take seconds.
 */
const PATIENCE_MS = 10_000
const NAME = 'rehearsal'
const NO_WORK = () => undefined
const NOTHING = async () => []
const SILENT = { debug: NO_WORK, info: NO_WORK, warn: NO_WORK, error: NO_WORK }

type RehearsalLedger = Services['ledger']

/**
 * Makes the calls and stops the ledger, which must keep nothing. Rejects if a call was refused, or
 * if no port of the loopback address can be opened.
 */
export async function rehearseCalls(services: Services, ledger: RehearsalLedger): Promise<void> {
  const key = createApiKey()
  const open: LocalServer[] = []
  const serve = async (listener: Parameters<typeof createServer>[1]) => {
    const server = await serveLocally(listener)
    open.push(server)
    return server.origin
  }
  const spending = createChannelSpending({ channels: () => [], read: NOTHING, log: SILENT })
  try {
    const vendor = await serve(answerAsVendor)
    const own = replaceServices({ ...services, ledger, spending }, vendor, key)
    const call = createCaller(services, await serve(createRehearsalListener(own)), key)
    await Promise.all(Array.from({ length: CALLS }, (_, index) => call(index % 2 === 1)))
  } finally {
    for (const server of open) server.close()
    spending.stop()
    await ledger.stop()
  }
}

function createCaller({ dispatcher }: Services, origin: string, key: string) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const times = { headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS }
  return async (stream: boolean): Promise<void> => {
    const path = chatCompletions.paths[0]
    const body = JSON.stringify(requestOf(stream))
    const request = { origin, path, method: 'POST' as const, headers, body, ...times }
    const answer = await dispatcher.request(request)
    const text = await answer.body.text()
    if (answer.statusCode !== 200 || text.includes('"error"')) {
      throw new Error(`a rehearsal got ${answer.statusCode}: ${text.slice(-200)}`)
    }
  }
}

function requestOf(stream: boolean) {
  return {
    model: NAME,
    max_tokens: 100,
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    messages: [{ role: 'user', content: 'Read "all" of it.\n'.repeat(50) }],
  }
}

/**
 * Replaces everything that limits, counts or stores calls, and lets requests reach only this
 * vendor.
 */
function replaceServices(services: Services, origin: string, key: string): Services {
  const now = () => performance.now()
  const accountId = newId('acct')
  const caller = {
    accountId,
    accountLimits: {},
    currency: 'USD',
    priceList: null,
    keyId: accountId,
    keyLimits: {},
    models: null,
    spendLimitNanos: null,
  }
  const { name } = presentKey(key)
  return {
    ...services,
    accounts: {
      identify: (presented) => (presented.name === name ? { caller } : { refused: 'unknown' }),
    },
    catalog: { snapshot: catalogOf(services, origin) },
    dispatcher: services.dispatcher.compose((dispatch) => (options, handler) => {
      if (options.origin === origin) return dispatch(options, handler)
      throw new Error('a rehearsal has no other vendor')
    }),
    refusesWork: NO_WORK,
    takenOut: { add: NO_WORK, stop: async () => undefined },
    limiter: createLimiter(now),
    slots: createFairSlots({ slots: SLOTS, what: 'calls', retryAfterSeconds: 1 }),
    health: createChannelHealth(now),
    retries: createRetryBudget(),
    inFlight: createInFlight(),
    log: SILENT,
    metrics: {
      call: NO_WORK,
      settled: NO_WORK,
      streamed: NO_WORK,
      tookOut: NO_WORK,
      upstreamCostDiffers: NO_WORK,
      converted: NO_WORK,
      attempt: NO_WORK,
    },
  }
}

/** Returns the listener of a gateway whose every path is that of chat completions. */
function createRehearsalListener(services: Services) {
  const [path] = chatCompletions.paths
  const found = {
    target: chatCompletions,
    path,
    pattern: path,
    query: new URLSearchParams(),
    params: {},
  }
  return createListener({
    match: () => found,
    memory: services.memory,
    envelopeOf: () => chatCompletions.envelope,
    run: ({ metering }, context) => meter(context, metering, services),
    onDone: NO_WORK,
  })
}

/** A catalog of one model with one channel. */
function catalogOf({ upstreams }: Services, origin: string) {
  const settings = upstreams
    .get(USUAL_UPSTREAM)
    ?.settings.parse({ base_url: `${origin}/v1`, api_key: NAME })
  const route = { channel: NAME, upstreamModel: NAME, priority: 0, weight: 1 }
  const prices = (['input_token', 'output_token'] as const).map((unit) => {
    return { unit, per: 1_000_000, amountNanos: 1_000_000_000n }
  })
  const model: Model = {
    id: NAME,
    type: 'chat',
    free: false,
    limits: {},
    routes: [{ ...route, cost: { version: 1n, currency: 'USD', entries: prices } }],
    prices,
    priceVersion: 1n,
    currency: 'USD',
    plannedPrices: [],
    details: {},
    updatedAt: new Date(0),
  }
  const snapshot = {
    revision: 0n,
    pricedAtMs: 0,
    lists: new Map(),
    issuers: [],
    models: new Map([[NAME, model]]),
    channels: new Map([[NAME, { id: NAME, upstream: USUAL_UPSTREAM, version: 1, settings }]]),
  }
  return () => snapshot
}

const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
const CHUNKS = 20

/** Answers a chat completion, whole or streamed. */
function answerAsVendor(request: IncomingMessage, response: ServerResponse): void {
  let isStream = false
  request.on('data', (part: Buffer) => {
    isStream ||= part.includes('"stream":true')
  })
  request.on('end', () => {
    const type = isStream ? 'text/event-stream' : 'application/json'
    response.writeHead(200, { 'content-type': type })
    if (!isStream) {
      const message = { role: 'assistant', content: 'All of it. '.repeat(50) }
      response.end(chunkOf('chat.completion', { message, finish_reason: 'stop' }, USAGE))
      return
    }
    const words = { delta: { content: 'word ' }, finish_reason: null }
    for (let index = 0; index < CHUNKS; index += 1) {
      response.write(`data: ${chunkOf('chat.completion.chunk', words)}\n\n`)
    }
    const stop = chunkOf('chat.completion.chunk', { delta: {}, finish_reason: 'stop' })
    const last = chunkOf('chat.completion.chunk', undefined, USAGE)
    response.end(`data: ${stop}\n\ndata: ${last}\n\ndata: [DONE]\n\n`)
  })
}

function chunkOf(object: string, choice?: object, usage?: object): string {
  const choices = choice ? [{ index: 0, ...choice }] : []
  return JSON.stringify({ id: NAME, object, created: 0, model: NAME, choices, usage })
}

interface LocalServer {
  readonly origin: string
  close(): void
}

/** The port is this process's own: worker processes would share one. */
async function serveLocally(listener: Parameters<typeof createServer>[1]): Promise<LocalServer> {
  const server = createServer(listener)
  server.listen({ port: 0, host: '127.0.0.1', exclusive: true })
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
