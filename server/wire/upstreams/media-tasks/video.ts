/** Video tasks at a vendor whose API is data (docs/protocols/media-tasks.md). */
import { type JsonObject, member, printValue, writeJson } from '../../../base/lib/json.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import { readDecimal } from '../../dialects/usage/read-count.ts'
import { readStatedCost } from '../../dialects/usage/stated-cost.ts'
import { UpstreamFailure } from '../failure.ts'
import { readJsonAnswer } from '../read-json.ts'
import { listPages, readUnfinished, withBill, withOtherId } from '../rest-tasks.ts'
import {
  isUnknownTask,
  readSubmitted,
  readUpstreamId,
  refuseEnvelope,
  submittedAs,
} from '../task-answer.ts'
import type { ListedTask, TaskDriver, TaskPoll, TaskReference } from '../task-driver.ts'
import type { Wire, WireRequest, WireResponse } from '../wire.ts'
import { appOf, bodyOf, mediaRulesOf, placeholdersOf, prepareMedia } from './order.ts'
import { chargesStated, formOf } from './presets.ts'
import { at, atFirst, findUrl, readWords, refuseStatus } from './read-answer.ts'
import { renderBody, renderUrl, type Values } from './render.ts'
import type { MediaSettings, MediaTemplate } from './settings.ts'

type Reference = TaskReference<MediaSettings>

function send(
  wire: Wire,
  settings: MediaSettings,
  request: { method: WireRequest['method']; path: string; values: Values; body?: JsonObject },
): Promise<WireResponse> {
  const { baseUrl, template } = formOf(settings)
  const { method, path, values, body } = request
  return wire.send({
    method,
    url: renderUrl(baseUrl, path, values),
    headers: {
      authorization: `${template.auth} ${settings.api_key}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    body: body && Buffer.from(writeJson(body)),
  })
}

/** Placeholders of a request about a task. */
function valuesAbout({ upstreamModel, upstreamId }: Reference): Values {
  return new Map([
    ['id', upstreamId],
    ['upstream_model', upstreamModel],
    ['upstream_app', appOf(upstreamModel)],
  ])
}

/** Tests the key by a request that costs nothing. */
export function probeMedia(wire: Wire, settings: MediaSettings): Promise<WireResponse> {
  const { probe, poll: look } = formOf(settings).template
  const values = valuesAbout({ settings, upstreamModel: 'none/none', upstreamId: 'none' })
  return send(wire, settings, { method: 'GET', path: probe ?? look.path, values })
}

async function poll(wire: Wire, reference: Reference): Promise<TaskPoll> {
  const { settings } = reference
  const { template } = formOf(settings)
  const values = valuesAbout(reference)
  const about = { method: 'GET', path: template.poll.path, values } as const
  const response = await send(wire, settings, about)
  if (await isUnknownTask(response)) return { state: 'gone' }
  await refuseStatus(response)
  const document = await readJsonAnswer(response)
  const status = meaningOf(template, at(document, template.poll.status))
  const named = atFirst(document, template.submit.id)
  // Answers in an operator's own form may have no id.
  if (!settings.template) refuseEnvelope(status, named)
  const message = readWords(atFirst(document, template.poll.error))
  const unfinished = readUnfinished({ status, error: { message } })
  const read = unfinished
    ? withBill(unfinished, isBilled(template, document, response))
    : template.output.path === undefined
      ? readSuccess(settings, document, response)
      : await fetchOutput(wire, settings, { ...about, path: template.output.path })
  return withOtherId(read, named, reference)
}

/**
 * Returns the gateway's status word for a vendor's word, which is kept if the template does not
 * know it.
 */
function meaningOf({ poll: { states } }: MediaTemplate, word: unknown): unknown {
  const known = Object.entries(states).find(([, words]) => words.includes(printValue(word)))
  return known ? known[0] : word
}

/** Statuses of an answer about the request for the output, not about the task. */
const OF_REQUEST: ReadonlySet<number> = new Set([401, 402, 403, 408, 429, 502, 503, 504])

/** A task that has ended may have failed, which only the answer with its output states. */
async function fetchOutput(
  wire: Wire,
  settings: MediaSettings,
  request: { readonly method: 'GET'; readonly path: string; readonly values: Values },
): Promise<TaskPoll> {
  const { template } = formOf(settings)
  const response = await send(wire, settings, request)
  if (await isUnknownTask(response)) return { state: 'gone' }
  if (response.status < 400) return readSuccess(settings, await readJsonAnswer(response), response)
  const failure = await refuseStatus(response).catch((error: unknown) => error)
  const isStated = failure instanceof UpstreamFailure && failure.details.isStated === true
  if (!isStated || OF_REQUEST.has(response.status)) throw failure
  const failed = { state: 'failed', code: 'task_failed', message: failure.message } as const
  return withBill(failed, isBilled(template, {}, response))
}

function readSuccess(
  settings: MediaSettings,
  document: JsonObject,
  { headers }: WireResponse,
): TaskPoll {
  const { template, currency } = formOf(settings)
  const url = findUrl(document, template.output.url)
  if (url === undefined) throw new UpstreamFailure('failed', { message: 'a success without a URL' })
  const usage = chargesStated(settings) ? readUsage(template, document, headers) : {}
  const stated = Object.keys(usage).length > 0
  const found = stated ? { usage, ...(currency ? { costCurrency: currency } : {}) } : {}
  return { state: 'succeeded', result: { video_url: url }, ...found }
}

/**
 * Reads what was billed: begun seconds count, and money is in billionths. A video has a length, so
 * a stated zero does not make it free.
 */
function readUsage(
  { usage }: MediaTemplate,
  document: JsonObject,
  headers: WireResponse['headers'],
): Quantities {
  const figureOf = (place: string) => {
    const isHeader = place.startsWith('header:')
    return readDecimal(isHeader ? headers[place.slice('header:'.length)] : at(document, place))
  }
  const entries = Object.entries(usage).flatMap(([unit, place]) => {
    const figure = figureOf(place)
    if (figure === undefined || figure < 0) return []
    const cost = readStatedCost({ ...byokOf(document, place), cost: figure })
    if (unit === 'vendor_cost') return cost ? [[unit, Number(cost.nanos)]] : []
    return figure > 0 ? [[unit, Math.ceil(figure)]] : []
  })
  return Object.fromEntries(entries)
}

/** Returns the amount beside a router's cost that the vendor bills to the operator's own key. */
function byokOf(document: JsonObject, place: string): JsonObject {
  const usage = at(document, place.slice(0, place.lastIndexOf('/')))
  return { is_byok: member(usage, 'is_byok'), cost_details: member(usage, 'cost_details') }
}

function isBilled(template: MediaTemplate, document: JsonObject, { headers }: WireResponse) {
  const figures = Object.values(readUsage(template, document, headers))
  return figures.some((figure) => figure > 0)
}

/** The methods that only some channels have. */
function methodsOf(settings: MediaSettings): Partial<TaskDriver<MediaSettings>> {
  const { recover, cancel, callback } = formOf(settings).template
  return {
    ...(recover && recover.items === undefined ? { recover: findOwn } : {}),
    ...(recover?.items === undefined ? {} : { list }),
    ...(cancel ? { cancel: cancelTask } : {}),
    ...(callback === undefined
      ? {}
      : {
          callbacks: {
            isEnabled: () => settings.callbacks,
            read: (body) => ({ upstreamId: readUpstreamId(at(body, callback)) }),
          },
        }),
  }
}

const findOwn: TaskDriver<MediaSettings>['recover'] = async (wire, lost) => {
  const { settings, attempt, upstreamModel } = lost
  const { recover } = formOf(settings).template
  if (!recover) return undefined
  const about = valuesAbout({ settings, upstreamModel, upstreamId: '' })
  const values = new Map([...about, ['attempt', attempt.id] as const])
  const response = await send(wire, settings, { method: 'GET', path: recover.path, values })
  if (await isUnknownTask(response)) return undefined
  await refuseStatus(response)
  const upstreamId = readUpstreamId(at(await readJsonAnswer(response), recover.id))
  return upstreamId === undefined ? undefined : { upstreamId }
}

/**
 * Only one page is read: the address of the next one comes from the vendor, and is not followed.
 */
const list: TaskDriver<MediaSettings>['list'] = (wire, { settings, upstreamModel, since }) =>
  listPages(async () => {
    const { recover } = formOf(settings).template
    if (!recover) return { tasks: [], isLast: true }
    const values = valuesAbout({ settings, upstreamModel, upstreamId: '' })
    const response = await send(wire, settings, { method: 'GET', path: recover.path, values })
    await refuseStatus(response)
    const document = await readJsonAnswer(response)
    const items = at(document, recover.items ?? '')
    const tasks = (Array.isArray(items) ? items : []).flatMap((item): ListedTask[] => {
      const upstreamId = readUpstreamId(at(item, recover.id))
      const time = at(item, recover.created_at ?? '')
      const createdAt = new Date(typeof time === 'number' ? time : printValue(time))
      const model = at(item, '/model')
      const isOther = typeof model === 'string' && model !== upstreamModel
      if (upstreamId === undefined || isOther || Number.isNaN(createdAt.getTime())) return []
      return [{ upstreamId, createdAt }]
    })
    const isWhole = recover.next === undefined || !at(document, recover.next)
    return { tasks, isLast: isWhole || tasks.some(({ createdAt }) => createdAt < since) }
  }, since)

/** Resolves with false if the vendor refuses: the next poll states how the task ends. */
const cancelTask: TaskDriver<MediaSettings>['cancel'] = async (wire, reference) => {
  const { settings } = reference
  const { cancel } = formOf(settings).template
  if (!cancel) return false
  const response = await send(wire, settings, { ...cancel, values: valuesAbout(reference) })
  if (response.status === 400 || response.status === 409) return false
  await refuseStatus(response)
  return true
}

export const mediaVideo: TaskDriver<MediaSettings> = {
  rules: mediaRulesOf,
  prepare: prepareMedia,
  async submit(wire, order, attempt) {
    const { template } = formOf(order.settings)
    const values = placeholdersOf(order, attempt)
    const { method, path, id } = template.submit
    const body = renderBody(bodyOf(order), values)
    const response = await send(wire, order.settings, { method, path, values, body })
    const idOf = (document: JsonObject) => atFirst(document, id)
    const readAnswer = async (read: WireResponse) => {
      await refuseStatus(read, order.parameters)
      const document = await readJsonAnswer(read)
      return submittedAs(idOf(document), read, document)
    }
    return await readSubmitted(response, readAnswer, idOf)
  },
  poll,
  methodsOf,
}
