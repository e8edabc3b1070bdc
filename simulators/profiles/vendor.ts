// A chat vendor by its profile, below `/profiles/NAME`: OpenAI's simulator with the profile's
// deviations on top.
import { isObject, type Json, objects } from '../kernel/checks.ts'
import {
  type Exchange,
  type Frame,
  Refused,
  type Reply,
  type Vendor,
  whole,
} from '../kernel/exchange.ts'
import { chatRoute } from '../openai/chat/endpoint.ts'
import { modelList, modelRoutes } from '../openai/models.ts'
import { PROFILE_KEYS, type Profile, type TokenCounts, type WireRefusal } from './profile.ts'
import { PROFILES } from './profiles.ts'

const RULES = {
  roles: ['system', 'user', 'assistant', 'tool', 'developer'],
  parts: ['text', 'image_url', 'input_audio', 'file', 'thinking'],
  efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'default'],
}

export const profileVendors = (): Vendor[] => PROFILES.map(createVendor)

function createVendor(profile: Profile): Vendor {
  const route = chatRoute({
    rules: RULES,
    checkModel: (_, json) => refuse(profile, json),
    errorBody: ({ status, message = 'error' }) => errorBody(profile, status, 'error', message),
    headers: () => ({}),
  })
  const failure: Vendor['failure'] = (_, { status, code = 'error', message = 'refused' }) =>
    whole(status, errorBody(profile, status, code, message), { reason: `HTTP ${status}` })
  return {
    name: `profile-${profile.name}`,
    prefix: `/profiles/${profile.name}${profile.path}`,
    requestIdHeader: 'x-request-id',
    scenarios: [],
    routes: [
      { ...route, handle: (exchange) => played(profile, route.handle(asking(profile, exchange))) },
      ...modelRoutes(modelList([], profile.name)),
    ],
    authenticate: (exchange) => authenticate(profile, exchange),
    failure,
    malformed: (exchange, message) => failure(exchange, { status: 400, message }),
    notFound: (exchange) => failure(exchange, { status: 404, message: 'no such path' }),
  }
}

function errorBody(profile: Profile, status: number, code: string, message: string): Json {
  const body = profile.error?.({ status, code, message })
  return isObject(body) ? body : { error: { message, type: code, param: null, code } }
}

/** Each state of an account has a key. */
function authenticate(profile: Profile, { request }: Exchange): Reply | undefined {
  const { auth, wrongKey, outOfMoney, rateLimited } = profile
  if (auth === 'none') return undefined
  const { authorization, 'api-key': bare } = request.headers
  const key = auth === 'bearer' ? authorization?.replace(/^Bearer /, '') : bare
  if (key === PROFILE_KEYS.good) return undefined
  if (key === PROFILE_KEYS.outOfMoney && outOfMoney) return sent(outOfMoney)
  if (key === PROFILE_KEYS.rateLimited && rateLimited) return sent(rateLimited)
  return sent(wrongKey)
}

function sent({ status, body, headers = {} }: WireRefusal): Reply {
  return whole(status, body, { headers, reason: `HTTP ${status}` })
}

function refuse({ refuses }: Profile, json: Json): void {
  const found = refuses.find(({ isIn }) => isIn(json))
  if (found) throw new Refused(found)
}

/** Asks for a stream's usage, which these vendors always state. */
function asking({ streamUsage }: Profile, exchange: Exchange): Exchange {
  const { json } = exchange
  if (streamUsage === 'asked' || !isObject(json) || json.stream !== true) return exchange
  return { ...exchange, json: { ...json, stream_options: { include_usage: true } } }
}

function played(profile: Profile, reply: Reply): Reply {
  if (reply.status !== 200) return reply
  if (reply.kind === 'whole') {
    const body: Json = JSON.parse(String(reply.body))
    return { ...reply, body: JSON.stringify(answered(profile, body, 'message')) }
  }
  if (reply.kind !== 'stream') return reply
  return { ...reply, frames: framed(profile, reply.frames) }
}

/** Renames the reasoning and counts the usage as the vendor does. */
function answered(profile: Profile, body: Json, part: 'message' | 'delta'): Json {
  const choices = objects(body.choices).map((choice) => {
    return isObject(choice[part]) ? { ...choice, [part]: reasoned(profile, choice[part]) } : choice
  })
  const usage = isObject(body.usage) ? { usage: counted(profile, body.usage) } : {}
  return { ...body, choices, ...usage }
}

function reasoned({ reasoning }: Profile, { reasoning_content: thought, ...rest }: Json): Json {
  if (thought === undefined) return rest
  if (reasoning !== 'list') return { ...rest, [reasoning]: thought }
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: thought }] }
  const said = typeof rest.content === 'string' && rest.content !== '' ? [rest.content] : []
  return { ...rest, content: [thinking, ...said.map((text) => ({ type: 'text', text }))] }
}

function counted(profile: Profile, usage: Json): Json {
  const { prompt_tokens_details: input, completion_tokens_details: output } = usage
  const tokens: TokenCounts = {
    input: Number(usage.prompt_tokens),
    cached: Number(isObject(input) ? input.cached_tokens : 0),
    output: Number(usage.completion_tokens),
    reasoning: Number(isObject(output) ? output.reasoning_tokens : 0),
  }
  return profile.usage(usage, tokens)
}

function framed(profile: Profile, frames: Frame[]): Frame[] {
  const events = frames.map((frame) => ({ frame, event: readEvent(frame) }))
  const stated = events.find(({ event }) => isObject(event?.usage))?.event?.usage
  const usage = isObject(stated) ? counted(profile, stated) : undefined
  const { opening, comment } = profile
  const first = opening ? [{ data: `data: ${JSON.stringify(opening)}\n\n` }] : []
  return [
    ...(comment === undefined ? [] : [{ data: comment }]),
    ...first,
    ...events.flatMap(({ frame, event }) => {
      if (!event) return [frame]
      const isUsage = isObject(event.usage) && objects(event.choices).length === 0
      if (isUsage && profile.streamUsage !== 'asked') return []
      const changed = placed(profile, answered(profile, event, 'delta'), usage)
      return [{ ...frame, data: `data: ${JSON.stringify(changed)}\n\n` }]
    }),
  ]
}

/** Puts the usage into the chunk that finishes, where the vendor does. */
function placed({ streamUsage }: Profile, chunk: Json, usage: Json | undefined): Json {
  const [choice] = objects(chunk.choices)
  if (streamUsage === 'asked' || !usage || typeof choice?.finish_reason !== 'string') return chunk
  if (streamUsage === 'choice') return { ...chunk, choices: [{ ...choice, usage }] }
  if (streamUsage === 'x_groq') return { ...chunk, x_groq: { id: 'req_sim', usage } }
  return { ...chunk, usage }
}

function readEvent({ data }: Frame): Json | undefined {
  const [, text] = /^data: (\{.*\})\n\n$/s.exec(data.toString()) ?? []
  return text === undefined ? undefined : JSON.parse(text)
}
