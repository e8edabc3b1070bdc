/** `tributary model try`: shows the requests that the models of a catalog file would send. */
import { Readable } from 'node:stream'
import { readVideoParameters } from '../../../server/api/endpoints/video/video-request.ts'
import { formatAmount } from '../../../server/base/lib/money.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import type { CatalogFile } from '../../../server/money/catalog/apply/file-schema.ts'
import { resolveSettings } from '../../../server/money/catalog/channel-settings.ts'
import { readPrices } from '../../../server/money/catalog/load/load-model.ts'
import { priceUpperBound } from '../../../server/money/catalog/price/price.ts'
import { UpstreamFailure } from '../../../server/wire/upstreams/failure.ts'
import {
  type TaskDriver,
  type TaskOrder,
  withChannel,
} from '../../../server/wire/upstreams/task-driver.ts'
import type { Wire, WireRequest } from '../../../server/wire/upstreams/wire.ts'
import { printJson } from '../../lib/print.ts'
import { readConfiguration } from '../../lib/read-configuration.ts'

export interface TryOptions {
  readonly model?: string
  readonly body?: string
  readonly json?: boolean
}

interface TriedRequest {
  readonly method: string
  readonly url: string
  readonly body?: unknown
}

interface Tried {
  readonly model: string
  readonly channel: string
  /** The reason why the model does not accept such a request. */
  readonly refused?: string
  readonly held?: string
  readonly facts?: TaskOrder<unknown>['parameters']
  readonly submit?: TriedRequest
  readonly poll?: TriedRequest
}

const SAMPLE = { content: [{ type: 'text', text: 'A river at dawn.' }] }
const TASK = 'TASK-ID'
const KEY = 'YOUR-KEY'
const HOOK = 'https://gateway.example/hook'

/** Prints what each model of a video type in the file would send. Nothing is sent. */
export async function tryModels(path: string, options: TryOptions): Promise<void> {
  const { files } = readConfiguration([path])
  const content = files[0]?.content
  const { UPSTREAMS } = await import('../../../server/wire/upstreams/index.ts')
  const models = (content?.models ?? []).filter(
    ({ id, type }) => type === 'video' && (options.model === undefined || id === options.model),
  )
  if (!content || models.length === 0) {
    throw new OperatorError(`${path} has no video model ${options.model ?? ''}`.trim())
  }
  const tried: Tried[] = []
  for (const model of models) {
    for (const route of model.routes) {
      const channel = content.channels.find(({ id }) => id === route.channel)
      const upstream = channel && UPSTREAMS.get(channel.upstream)
      const driver = upstream?.tasks?.video
      if (!channel || !driver) continue
      const found = resolveSettings(withKey(channel.settings), upstream, {})
      if ('problem' in found) throw new OperatorError(`channel ${channel.id}: ${found.problem}`)
      const target = { driver, settings: found.settings, upstreamModel: route.upstream_model }
      tried.push(await tryOne(model, { ...target, channel: channel.id }, readBody(options)))
    }
  }
  if (options.json) return printJson(tried)
  for (const one of tried) printTried(one)
}

type FileModel = CatalogFile['models'][number]

interface Target {
  readonly driver: TaskDriver
  readonly settings: unknown
  readonly upstreamModel: string
  readonly channel: string
}

/** Keys from the environment are not needed, since nothing is sent. */
function withKey(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      return [name, typeof value === 'string' && value.startsWith('env:') ? KEY : value]
    }),
  )
}

function readBody({ body }: TryOptions): Record<string, unknown> {
  if (body === undefined) return SAMPLE
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { ...SAMPLE, ...value }
    }
  } catch {
    // Reported below, like any other text that is not an object.
  }
  throw new OperatorError('--body must be a JSON object, such as \'{"duration": 5}\'')
}

async function tryOne(
  { id, prices, details }: FileModel,
  { driver, channel, settings, upstreamModel }: Target,
  sent: Record<string, unknown>,
): Promise<Tried> {
  const named = { model: id, channel }
  const order = {
    settings,
    upstreamModel,
    parameters: readVideoParameters({ ...sent, model: id }),
    sentFields: new Set(['model', ...Object.keys(sent)]),
    details,
  }
  try {
    const { quantities, facts } = driver.prepare(order)
    const held = priceUpperBound(readPrices(prices, 'video'), { task: 1, call: 1, ...quantities }, [
      facts,
    ])
    const callsBack = withChannel(driver, settings).callbacks?.isEnabled(settings) === true
    const attempt = { id: 'att_TRY', vendorCallbackUrl: callsBack ? HOOK : undefined }
    const reference = { settings, upstreamModel, upstreamId: TASK }
    return {
      ...named,
      held: formatAmount(held),
      facts,
      submit: await capture((wire) => driver.submit(wire, order, attempt)),
      poll: await capture((wire) => driver.poll(wire, reference)),
    }
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    return { ...named, refused: error.message }
  }
}

/** Returns the first request that the driver would send. */
async function capture(run: (wire: Wire) => Promise<unknown>): Promise<TriedRequest> {
  let request: WireRequest | undefined
  const wire: Wire = {
    async send(sent) {
      request ??= sent
      return { status: 503, headers: {}, body: Readable.from([]) }
    },
    openSocket: () => Promise.reject(new OperatorError('this model needs a socket')),
    wait: async (forMs) => forMs,
    now: Date.now,
  }
  await run(wire).catch((error: unknown) => {
    if (!request) throw error
  })
  if (!request) throw new OperatorError('the model sends no request')
  const { method, url, body } = request
  return { method, url, ...(Buffer.isBuffer(body) ? { body: JSON.parse(body.toString()) } : {}) }
}

function printTried({ model, channel, refused, held, facts, submit, poll }: Tried): void {
  console.log(`${model} over ${channel}`)
  if (refused !== undefined) {
    console.log(`  refused: ${refused}\n`)
    return
  }
  console.log(`  ${submit?.method} ${submit?.url}`)
  for (const line of JSON.stringify(submit?.body, null, 2).split('\n')) console.log(`  ${line}`)
  console.log(`  then ${poll?.method} ${poll?.url}`)
  console.log(`  held: ${held}, by ${JSON.stringify(facts)}\n`)
}
