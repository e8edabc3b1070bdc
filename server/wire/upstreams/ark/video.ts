/** Video tasks in the vendor's native protocol (docs/protocols/ark.md#video-tasks). */

import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { readResultUrl } from '../../../base/lib/result-url.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import { readCount, readDecimal } from '../../dialects/usage/read-count.ts'
import { readVendorTools } from '../../dialects/usage/vendor-tools.ts'
import {
  contentOf,
  correctRules,
  findUntaken,
  judgeVideo,
  nameRoles,
  sortContent,
} from '../../dialects/video/content.ts'
import { readErrorBody } from '../failure.ts'
import { readJsonAnswer } from '../read-json.ts'
import { listPages, pickStated, refuseField, requireUrl, restTasks } from '../rest-tasks.ts'
import { sendWithKey } from '../send-with-key.ts'
import { readTaskStatus } from '../task-answer.ts'
import type {
  ListedTask,
  PreparedTask,
  TaskDriver,
  TaskOrder,
  TaskPoll,
  TaskReference,
} from '../task-driver.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { type Family, familyOf } from './families.ts'
import { readPromptFlags } from './prompt-flags.ts'
import { describeArkFailure, readArkFailure } from './read-failure.ts'
import type { ArkSettings } from './settings.ts'
import { countVideoTokens, leastInputSeconds } from './tokens.ts'

type SucceededTask = Extract<TaskPoll, { state: 'succeeded' }>

const PATH = '/contents/generations/tasks'
const PAGE_SIZE = 500
/** Fields that every generation takes, with the vendor's defaults. */
const COMMON = ['return_last_frame', 'watermark', 'safety_identifier', 'execution_expires_after']
/** Searches to hold for: no request limits them. */
const SEARCHES_EXPECTED = 3
/** Members of a task with the values that took effect. */
const EFFECTIVE = ['duration', 'frames', 'resolution', 'ratio', 'seed', 'revised_prompt']
/** Members of a task that repeat its request. */
const ECHOED = [
  'service_tier',
  'execution_expires_after',
  'generate_audio',
  'priority',
  'draft',
  'draft_task_id',
  'tools',
]

function prepare(taskOrder: TaskOrder<ArkSettings>): PreparedTask {
  const order = withFlags(taskOrder)
  const family = familyOf(order.upstreamModel)
  const rules = correctRules(family, order.details)
  const found = judgeFields(order, family) ?? judgeVideo(order.parameters, order.sentFields, rules)
  if (found) throw refuseField(found)
  const { resolution, ratio, seconds } = readSize(order, rules.seconds.max, rules.resolution)
  const hasVideo = sortContent(contentOf(order.parameters)).videos > 0
  const inputSeconds = hasVideo ? Math.max(family.inputSeconds, leastInputSeconds(seconds)) : 0
  const measure = { resolution, ratio, seconds, inputSeconds }
  const facts = factsOf(order.parameters, resolution, hasVideo, family)
  return {
    quantities: {
      output_token: countVideoTokens(family, measure),
      second: seconds + inputSeconds,
      ...(hasTools(order.parameters) ? { web_search_call: SEARCHES_EXPECTED } : {}),
    },
    facts,
    effective: effectiveOf(order.parameters, { resolution, ratio, generate_audio: facts.audio }),
  }
}

/** The only tool of videos is the vendor's search of the web. */
function hasTools({ tools }: JsonObject): boolean {
  return Array.isArray(tools) && tools.length > 0
}

function withFlags(order: TaskOrder<ArkSettings>): TaskOrder<ArkSettings> {
  const read = readPromptFlags(order)
  if ('problem' in read) throw refuseField(read)
  return { ...order, ...read }
}

function judgeFields({ parameters, sentFields }: TaskOrder<ArkSettings>, { fields }: Family) {
  const isSilent = !fields.includes('generate_audio')
  const untaken = findUntaken(parameters, sentFields, [...COMMON, ...fields], isSilent)
  if (untaken) return untaken
  const { frames } = parameters
  const isCount = frames === undefined || frames === null || Number.isSafeInteger(frames)
  return isCount ? undefined : { param: 'frames', problem: 'must be a whole number' }
}

function readSize(
  { parameters, sentFields }: TaskOrder<ArkSettings>,
  secondsMax: number,
  defaultResolution: string,
) {
  const { frames, ratio } = parameters
  const duration = isOfDraft(parameters) ? parameters.draft_seconds : parameters.duration
  const requestedSeconds = typeof duration === 'number' && duration > 0 ? duration : secondsMax
  return {
    resolution: sentFields.has('resolution') ? String(parameters.resolution) : defaultResolution,
    ratio: sentFields.has('ratio') ? String(ratio) : 'adaptive',
    seconds: typeof frames === 'number' && frames > 0 ? Math.ceil(frames / 24) : requestedSeconds,
  }
}

function factsOf(
  parameters: JsonObject,
  resolution: string,
  hasVideo: boolean,
  { fields }: Family,
): PreparedTask['facts'] {
  return {
    resolution,
    audio: fields.includes('generate_audio') && parameters.generate_audio !== false,
    service_tier: asString(parameters.service_tier) ?? 'default',
    video_input: hasVideo,
  }
}

/** Flags of the prompt are among the parameters; the length of a draft is in its place. */
function effectiveOf(parameters: JsonObject, sized: JsonObject): JsonObject {
  const { duration, draft_seconds: draftSeconds, frames } = parameters
  const seconds = isOfDraft(parameters) ? (draftSeconds ?? duration) : duration
  // As in the vendor's own answers, either of the two names the length.
  return typeof frames === 'number'
    ? { ...sized, duration: null, frames }
    : { ...sized, duration: seconds }
}

/** The length and the sound of a draft are those of the video made of it. */
function isOfDraft(parameters: JsonObject): boolean {
  return sortContent(contentOf(parameters)).drafts > 0
}

/** Keeps the fields that this generation takes, without defaults that it would refuse. */
function buildBody(order: TaskOrder<ArkSettings>): JsonObject {
  const { parameters, sentFields, upstreamModel } = order
  const family = familyOf(upstreamModel)
  const ofDraft = isOfDraft(parameters)
  const body: Record<string, unknown> = {
    model: upstreamModel,
    content: nameRoles(contentOf(parameters)),
  }
  for (const name of [...COMMON, ...family.fields]) {
    const isSent = sentFields.has(name) || (name === 'generate_audio' && !ofDraft)
    if (parameters[name] !== undefined && isSent) {
      body[name] = parameters[name]
    }
  }
  body.resolution = readSize(order, family.seconds.max, family.resolution).resolution
  if (sentFields.has('ratio')) body.ratio = parameters.ratio
  const hasLength = !ofDraft || sentFields.has('duration')
  if (body.frames === undefined && hasLength) body.duration = parameters.duration
  return body
}

async function readCreated(response: WireResponse, parameters: JsonObject): Promise<JsonObject> {
  if (response.status >= 400) throw await readArkFailure(response, parameters)
  const answer = await readJsonAnswer(response)
  const failure = describeArkFailure(response, answer, parameters)
  if (failure.details.isStated) throw failure
  return answer
}

async function readTask(response: WireResponse): Promise<JsonObject> {
  if (response.status >= 400) throw await readArkFailure(response)
  const task = await readJsonAnswer(response)
  const failure = describeArkFailure(response, task)
  // With a status, the error is that of the task.
  if (readTaskStatus(task.status) === undefined && failure.details.isStated) throw failure
  return task
}

function readSuccess(
  task: JsonObject,
  { upstreamModel }: Pick<TaskReference<ArkSettings>, 'upstreamModel'>,
): TaskPoll {
  const { content, framespersecond, usage } = task
  const lastFrame = readResultUrl(member(content, 'last_frame_url'))
  return {
    state: 'succeeded',
    result: {
      video_url: requireUrl(member(content, 'video_url'), 'a video_url'),
      ...(lastFrame === undefined ? {} : { last_frame_url: lastFrame }),
      ...pickStated(task, [...EFFECTIVE, ...ECHOED]),
      ...(framespersecond === undefined ? {} : { frames_per_second: framespersecond }),
      ...(isObject(usage) ? { usage } : {}),
    },
    usage: readUsage(task),
    measured: measure(task, familyOf(upstreamModel)),
    facts: readFacts(task),
    ...findUnknown(task),
  }
}

/**
 * Reads the billed tokens (`completion_tokens`), the searches, and the seconds of the video. Zero
 * tokens, and no count of tokens at all, state nothing: an estimate is charged.
 */
function readUsage(task: JsonObject): Quantities | undefined {
  const tokens = tokensOf(task)
  const seconds = secondsOf(task)
  const { web_search_call: searches = 0 } = readVendorTools(task, task.usage).calls
  const quantities = {
    ...(tokens === undefined ? {} : { output_token: tokens, web_search_call: searches }),
    ...(seconds === undefined ? {} : { second: seconds }),
  }
  return Object.keys(quantities).length > 0 ? quantities : undefined
}

function tokensOf({ usage }: JsonObject): number | undefined {
  const counts = ['completion_tokens', 'total_tokens'].map((name) => {
    return readCount(readDecimal(member(usage, name)))
  })
  return counts.find((count) => count !== undefined && count > 0)
}

function secondsOf({ duration, frames }: JsonObject): number | undefined {
  if (typeof duration === 'number') return duration
  return typeof frames === 'number' ? Math.ceil(frames / 24) : undefined
}

function measure(task: JsonObject, family: Family): Quantities | undefined {
  const seconds = secondsOf(task) ?? 0
  if (seconds <= 0) return undefined
  const resolution = asString(task.resolution) ?? family.resolution
  const ratio = asString(task.ratio) ?? 'adaptive'
  const tokens = countVideoTokens(family, { resolution, ratio, seconds, inputSeconds: 0 })
  // No charge is based on an impossible length.
  return Number.isSafeInteger(tokens) ? { output_token: tokens } : undefined
}

const TIERS: ReadonlySet<string> = new Set(['default', 'flex'])

/** Flags a tier that no price can name, and tools that no unit counts, for review. */
function findUnknown(task: JsonObject): Pick<SucceededTask, 'unknownUsage'> {
  const { service_tier: tier, usage } = task
  const isKnown = typeof tier !== 'string' || tier === '' || TIERS.has(tier.toLowerCase())
  const unknown = [...readVendorTools(task, usage).unknown, ...(isKnown ? [] : ['service_tier'])]
  return unknown.length === 0 ? {} : { unknownUsage: unknown }
}

function readFacts(task: JsonObject): PreparedTask['facts'] {
  const { resolution, generate_audio: audio } = task
  const tier = asString(task.service_tier)?.toLowerCase()
  return {
    ...(tier === undefined || !TIERS.has(tier) ? {} : { service_tier: tier }),
    ...(typeof resolution === 'string' ? { resolution } : {}),
    ...(typeof audio === 'boolean' ? { audio } : {}),
  }
}

async function cancel(wire: Wire, reference: TaskReference<ArkSettings>): Promise<boolean> {
  const response = await sendWithKey(wire, reference.settings, 'DELETE', pathOf(reference))
  if (response.status < 400) {
    await readErrorBody(response)
    return true
  }
  const failure = await readArkFailure(response)
  // Running, already cancelled or already erased: the next poll states which.
  if (response.status === 409 || response.status === 404 || response.status === 400) return false
  throw failure
}

function list(
  wire: Wire,
  query: { settings: ArkSettings; upstreamModel: string; since: Date },
): Promise<readonly ListedTask[]> {
  return listPages(async (page) => {
    const search = new URLSearchParams({
      page_num: String(page),
      page_size: String(PAGE_SIZE),
      'filter.model': query.upstreamModel,
    })
    const response = await sendWithKey(wire, query.settings, 'GET', `${PATH}?${search}`)
    if (response.status >= 400) throw await readArkFailure(response)
    const { items } = await readJsonAnswer(response)
    const tasks = (Array.isArray(items) ? items : []).flatMap(readListed)
    // Newest first.
    const isOlder = tasks.some(({ createdAt }) => createdAt < query.since)
    return { tasks, isLast: tasks.length < PAGE_SIZE || isOlder }
  }, query.since)
}

function readListed(item: unknown): ListedTask[] {
  const id = asString(member(item, 'id'))
  const createdAt = member(item, 'created_at')
  if (id === undefined || typeof createdAt !== 'number') return []
  return [{ upstreamId: id, createdAt: new Date(createdAt * 1000) }]
}

function pathOf({ upstreamId }: TaskReference<ArkSettings>): string {
  return `${PATH}/${encodeURIComponent(upstreamId)}`
}

export const arkVideo: TaskDriver<ArkSettings> = {
  ...restTasks<ArkSettings>({
    prepare,
    id: ({ id }) => id,
    submit: {
      path: () => PATH,
      body: (order) => buildBody(withFlags(order)),
      read: readCreated,
    },
    poll: {
      path: (id) => `${PATH}/${id}`,
      read: readTask,
      isBilled: (task) => tokensOf(task) !== undefined,
    },
    result: readSuccess,
  }),
  rules({ upstreamModel, details }) {
    const family = familyOf(upstreamModel)
    return { ...correctRules(family, details), fields: [...COMMON, ...family.fields] }
  },
  cancel,
  list,
  // A vendor callback has the form of the answer to a poll.
  callbacks: {
    isEnabled: (settings) => settings.callbacks,
    read: ({ id }) => ({ upstreamId: asString(id) }),
  },
}

/** Lists at most one task of the account (docs/protocols/ark.md). */
export function listOneTask(wire: Wire, settings: ArkSettings): Promise<WireResponse> {
  return sendWithKey(wire, settings, 'GET', `${PATH}?page_num=1&page_size=1`)
}
