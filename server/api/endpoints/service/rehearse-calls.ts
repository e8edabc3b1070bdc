/**
 * Makes calls of a gateway to itself: of a model, an account and a vendor that exist for them
 * alone. They run the code of real calls, down to sockets, and nothing counts or keeps them.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createListener } from '../../../base/http/listener.ts'
import { newId } from '../../../base/lib/ids.ts'
import { createFairSlots } from '../../../base/lib/queues/fair-slots.ts'
import { createApiKey } from '../../../base/lib/secrets/api-key.ts'
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

/** Some at once, every other one streamed: more of them make the first calls no faster. */
const CALLS = 4
/** An account gets a share of them. */
const SLOTS = 100
const NAME = 'rehearsal'
const NO_WORK = () => undefined
const SILENT = { debug: NO_WORK, info: NO_WORK, warn: NO_WORK, error: NO_WORK }

type RehearsalLedger = Services['ledger']

/** Stops the ledger at the end. Rejects if one of the calls was refused. */
export async function rehearseCalls(services: Services, ledger: RehearsalLedger): Promise<void> {
  const vendor = await serveLocally(answerAsVendor)
  const gateway = await serveLocally(listen(services, ledger, vendor.origin))
  try {
    const call = createCaller(services, gateway.origin)
    await Promise.all(Array.from({ length: CALLS }, (_, index) => call(index % 2 === 1)))
  } finally {
    gateway.close()
    vendor.close()
    await ledger.stop()
  }
}

function createCaller({ dispatcher }: Services, origin: string) {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${createApiKey()}`,
  }
  return async (stream: boolean): Promise<void> => {
    const path = chatCompletions.paths[0]
    const body = JSON.stringify(requestOf(stream))
    const answer = await dispatcher.request({ origin, path, method: 'POST', headers, body })
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

/** Replaces what decides about, counts or keeps real calls. */
function listen(services: Services, ledger: RehearsalLedger, origin: string) {
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
  const nothing = async () => []
  const own: Services = {
    ...services,
    ledger,
    accounts: { identify: () => ({ caller }) },
    catalog: { snapshot: catalogOf(services, origin) },
    refusesWork: NO_WORK,
    limiter: createLimiter(now),
    slots: createFairSlots({ slots: SLOTS, what: 'calls', retryAfterSeconds: 1 }),
    health: createChannelHealth(now),
    spending: createChannelSpending({ channels: () => [], read: nothing, log: SILENT }),
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
    run: ({ metering }, context) => meter(context, metering, own),
    onDone: NO_WORK,
  })
}

/** A catalog of one model at one channel. */
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

async function serveLocally(listener: Parameters<typeof createServer>[1]) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
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
