/** Generates cases from a seed: ordinary, adversarial, expensive, refused, broken and cut short. */
import type { Random } from '../../../testbed/random.ts'
import { createRandom } from '../../../testbed/random.ts'
import { BENDS } from '../answers/bend.ts'
import { CUTS } from '../answers/broken.ts'
import { responseId } from '../answers/responses.ts'
import type { AnswerPlan, Case, Dialect, Expectation, WorkPlan } from '../plan.ts'
import { NOT_SOLD, type RequestedFeature, SOLD } from '../requests/features.ts'
import { drawBytes } from '../requests/filler.ts'
import {
  type Body,
  chatBody,
  contentsBody,
  messagesBody,
  responsesBody,
} from '../requests/ordinary.ts'
import { playTricks } from '../requests/tricks.ts'
import { DEFAULT_SERVED, sheetOf } from '../sheet.ts'
import { generateMedia } from './generate-media.ts'
import {
  PLACEMENTS,
  pickTarget,
  TARGETS,
  type Target,
  type TextDialect,
  target,
  targetOf,
  wireOf,
} from './targets.ts'

const PATHS: Readonly<Record<Exclude<TextDialect, 'contents'>, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
}

const BODIES = {
  chat: chatBody,
  responses: responsesBody,
  messages: messagesBody,
  contents: contentsBody,
}

function pathOf(dialect: TextDialect, model: string, stream: boolean): string {
  if (dialect !== 'contents') return PATHS[dialect]
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return `/v1beta/models/${model}:${method}`
}

const WORST_PICTURE = 36_000
/** The number of cases per stored conversation, which the first few of them form. */
const CHAIN_EVERY = 120
const CHAIN_STEPS = 4
const POOR_SHARE = 0.02

/** Returns the cases with ids from `first` on. The same seed gives the same cases. */
export function generateCases(seed: number, first: number, count: number): Case[] {
  return Array.from({ length: count }, (_, index) => generateCase(seed, first + index))
}

/** Each case has its own generator, so that it can be generated without those before it. */
function generateCase(seed: number, id: number): Case {
  const random = createRandom((Math.imul(seed, 2_654_435_761) ^ Math.imul(id + 1, 40_503)) >>> 0)
  for (let turn = 0; turn < 3; turn += 1) random.next()
  const share = random.next()
  const step = id % CHAIN_EVERY
  if (step < CHAIN_STEPS) return chained(random, id, step)
  if (share < 0.1) return generateMedia(random, id)
  if (share < 0.44) return ordinary(random, id)
  if (share < 0.72) return tricky(random, id)
  if (share < 0.82) return dear(random, id)
  if (share < 0.86) return notSold(random, id)
  if (share < 0.97) return broken(random, id)
  if (share < 0.98) return vendorRefusal(random, id)
  if (share < 0.985) return beyond(random, id)
  if (share < 0.99) return unpriced(random, id)
  return leaving(random, id)
}

interface Draft {
  readonly target: Target
  readonly body: Body
  readonly stream: boolean
  readonly limit: number | undefined
  readonly id: number
}

function draft(random: Random, id: number, one: Target = pickTarget(random)): Draft {
  const stream = random.next() < 0.5
  const named = random.next() < 0.75 || one.dialect === 'messages'
  const limit = named ? random.pick([16, 100, 1_024, 4_096, 16_000]) : undefined
  const spec = { id, model: one.model, bytes: drawBytes(random), stream, limit }
  return { target: one, body: BODIES[one.dialect](random, spec), stream, limit, id }
}

function planWork(random: Random, { target: one, limit }: Draft, media = false): WorkPlan {
  const most = Math.min(limit ?? one.most, one.most)
  const output =
    random.next() < 0.8 ? random.integer(1, Math.min(600, most)) : random.integer(1, most)
  const reasoning = random.next() < 0.4 ? random.integer(0, output) : 0
  const cost = one.model === 'pp-cost' ? BigInt(random.integer(1, 900_000_000)) : undefined
  return {
    tokensPerThousandBytes: random.pick([250, 250, 300, 500, 1_000]),
    hiddenInput: media ? random.integer(85, 5 * WORST_PICTURE) : hiddenTokens(random),
    shares: random.pick(one.shares),
    fixed: { output_token: output, ...sheetOf(one.model).always },
    reasoning: one.model === 'pp-modes' ? 0 : reasoning,
    served: { ...DEFAULT_SERVED, ...sheetOf(one.model).usually },
    passes: [],
    ...(cost === undefined ? {} : { cost }),
  }
}

/** Templates and hidden prompts: mostly small, sometimes some thousands of tokens. */
function hiddenTokens(random: Random): number {
  return random.next() < 0.9 ? random.integer(0, 40) : random.integer(0, 8_000)
}

function planAnswer(random: Random, { target: one, stream }: Draft): AnswerPlan {
  const wire = wireOf(one)
  const key = wire === 'chat' ? (stream ? 'events' : 'whole') : wire
  return {
    form: random.pick(one.forms),
    placement: random.pick(PLACEMENTS[key] ?? ['last']),
    ...(sheetOf(one.model).usually ? { silent: true } : {}),
  }
}

interface Finish {
  readonly work: WorkPlan
  readonly answer: AnswerPlan
  readonly expected: Expectation
  readonly tricks?: readonly string[]
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly leavesAfter?: number
  /** True if media are in the body, whose bytes then do not measure the hold. */
  readonly media?: boolean
}

/** Holds count one token for four bytes of text. */
const BYTES_HELD_PER_TOKEN = 4

/** Returns the size of a body without its members that are null, which count as not set. */
function countHeldBytes(text: string): number {
  const bytes = Buffer.byteLength(text)
  const members = Object.entries(JSON.parse(text.replace(/^\uFEFF/, '')))
  const set = members.filter(([, member]) => member !== null)
  if (set.length === members.length) return bytes
  return Math.min(bytes, Buffer.byteLength(JSON.stringify(Object.fromEntries(set))))
}

function finish({ id, target: one, body, stream, limit = 0 }: Draft, done: Finish): Case {
  const { dialect, model } = one
  const { stream: _, ...own } = body
  const text = done.text ?? JSON.stringify(dialect === 'contents' ? own : body)
  const input = Math.floor(countHeldBytes(text) / BYTES_HELD_PER_TOKEN)
  const version: Record<string, string> =
    dialect === 'messages' ? { 'anthropic-version': '2023-06-01' } : {}
  return {
    id,
    dialect: dialect as Dialect,
    model,
    tricks: done.tricks ?? [],
    path: pathOf(dialect, model, stream),
    headers: { ...version, ...done.headers },
    body: text,
    ...(done.media ? {} : { holdsFor: { input, output: limit } }),
    stream,
    work: done.work,
    answer: done.answer,
    expected: done.expected,
    ...(done.leavesAfter === undefined ? {} : { leavesAfter: done.leavesAfter }),
  }
}

function ordinary(random: Random, id: number): Case {
  if (random.next() < POOR_SHARE) return poor(random, id)
  const one = draft(random, id)
  return finish(one, {
    work: planWork(random, one),
    answer: planAnswer(random, one),
    expected: 'full',
  })
}

/** A conversation of which only the last turn is sent, and all of which is billed again. */
function chained(random: Random, id: number, step: number): Case {
  const one = draft(random, id, targetOf('responses pp-tiers'))
  delete one.body.store
  if (step > 0) one.body.previous_response_id = responseId(id - 1)
  const plan = planWork(random, one)
  const work = step > 0 ? { ...plan, buildsOn: id - 1 } : plan
  const done = {
    work,
    answer: planAnswer(random, one),
    expected: 'full',
    tricks: ['chain'],
  } as const
  const testCase = finish(one, done)
  return step > 0 ? { ...testCase, after: id - 1 } : testCase
}

/** The balance covers the hold but not the final charge. */
function poor(random: Random, id: number): Case {
  const one = draft(random, id, targetOf('chat pp-plain'))
  const body = chatBody(random, {
    id,
    model: 'pp-plain',
    bytes: 200,
    stream: one.stream,
    limit: 16,
  })
  const plan = planWork(random, { ...one, limit: 16 })
  const work = { ...plan, hiddenInput: 12_000 }
  const draftOf = { ...one, body, limit: 16 }
  const done = {
    work,
    answer: planAnswer(random, one),
    expected: 'full',
    tricks: ['poor'],
  } as const
  return { ...finish(draftOf, done), poor: true }
}

function tricky(random: Random, id: number): Case {
  const one = draft(random, id)
  const { text, names, media, limit } = playTricks(random, one.target.dialect, one.body)
  const limited = limit === undefined ? one : { ...one, limit: limit ?? undefined }
  return finish(limited, {
    media,
    work: planWork(random, limited, media),
    answer: planAnswer(random, one),
    expected: 'full',
    tricks: names,
    text,
  })
}

function pickAsk(
  random: Random,
  from: typeof SOLD,
): { key: string; make: (typeof SOLD)[string][number] } {
  const pairs = Object.entries(from).flatMap(([key, asks]) => asks.map((make) => ({ key, make })))
  const [first, ...rest] = pairs
  if (!first) throw new Error('nothing can be asked for')
  return random.pick([first, ...rest])
}

function dear(random: Random, id: number): Case {
  const { key, make } = pickAsk(random, SOLD)
  const one = draft(random, id, targetOf(key))
  const feature = make(one.body, random)
  const plain = planWork(random, one, feature.tools)
  const explicit = feature.served?.tier !== undefined && feature.name !== 'auto, served fast'
  const isSilent =
    feature.silent ??
    (explicit && feature.served?.tier === requestedTier(one.body) && random.next() < 0.3)
  return finish(one, {
    work: withFeature(plain, feature),
    answer: { ...planAnswer(random, one), ...(isSilent ? { silent: true } : {}) },
    expected: 'full',
    tricks: [`asked: ${key.split(' ')[0]} ${feature.name}`],
    ...(feature.headers ? { headers: feature.headers } : {}),
  })
}

function requestedTier({ service_tier: tier }: Body): unknown {
  return tier === 'priority' ? 'fast' : tier
}

function withFeature(plan: WorkPlan, feature: RequestedFeature): WorkPlan {
  // Spoken output counts towards the output limit too.
  const text = (plan.fixed.output_token ?? 0) - (feature.fixed?.audio_output_token ?? 0)
  return {
    ...plan,
    shares: feature.shares ?? plan.shares,
    fixed: { ...plan.fixed, output_token: Math.max(1, text), ...feature.fixed, ...feature.calls },
    reasoning: feature.reasoning
      ? Math.min(feature.reasoning, plan.fixed.output_token ?? 0)
      : plan.reasoning,
    served: { ...plan.served, ...feature.served },
    passes: feature.passes ?? [],
  }
}

function notSold(random: Random, id: number): Case {
  const { key, make } = pickAsk(random, NOT_SOLD)
  const one = draft(random, id, targetOf(key))
  const feature = make(one.body, random)
  return finish(one, {
    work: planWork(random, one),
    answer: planAnswer(random, one),
    expected: 'refused',
    tricks: [`not sold: ${key.split(' ')[0]} ${feature.name}`],
    ...(feature.headers ? { headers: feature.headers } : {}),
  })
}

const WHOLE_BREAKS = [
  'HTML',
  'not JSON',
  'a JSON string',
  'a JSON array',
  'nothing',
  'an error under 200',
  'compressed',
] as const
const SLOW_BREAKS = ['an endless line', 'a drip', 'a flood', 'silence'] as const
const SLOW_SHARE = 0.004

function broken(random: Random, id: number): Case {
  const isSlow = random.next() < SLOW_SHARE
  const plain = TARGETS.filter(({ model }) => model !== 'pp-cost')
  const [first, ...rest] = plain
  const slowTarget = target('chat', 'pp-impatient', { most: 4_096 })
  const drawn = draft(random, id, isSlow || !first ? slowTarget : random.pick([first, ...rest]))
  const one = isSlow ? { ...drawn, stream: true, body: { ...drawn.body, stream: true } } : drawn
  const breakage = isSlow ? random.pick(SLOW_BREAKS) : pickBreak(random, one)
  const stated = breakage === 'reset after usage'
  return finish(one, {
    work: { ...planWork(random, one), passes: [] },
    answer: { ...planAnswer(random, one), form: 'plain', placement: 'last', breakage },
    expected: stated && one.stream ? 'full' : BENDS[breakage]?.remains === 'none' ? 'none' : 'part',
    tricks: [`broken: ${breakage}`],
  })
}

function pickBreak(random: Random, { stream, target: one }: Draft): string {
  const bends = Object.keys(BENDS)
  const [first = 'missing', ...rest] = bends
  const share = random.next()
  if (share < 0.6) return random.pick([first, ...rest])
  if (!stream || share > 0.9) return random.pick(WHOLE_BREAKS)
  const [cut = 'reset before usage', ...cuts] = Object.keys(CUTS)
  // A translator's statement about an unfinished stream is not the vendor's.
  const ends = one.native ? [cut, ...cuts] : cuts
  return random.pick(['an error event', ...ends] as [string, ...string[]])
}

function vendorRefusal(random: Random, id: number): Case {
  const one = draft(random, id)
  const refusal = random.pick([400, 401, 403, 404, 422, 429, 500, 503, 529])
  return finish(one, {
    work: planWork(random, one),
    answer: { ...planAnswer(random, one), refusal },
    expected: 'nothing',
    tricks: [`vendor: ${refusal}`],
  })
}

/** Stated usage beyond what any such request can cause. */
function beyond(random: Random, id: number): Case {
  const one = draft(
    random,
    id,
    targetOf(random.pick(['chat pp-tiers', 'responses pp-mini', 'messages pp-claude-long'])),
  )
  const plan = planWork(random, one)
  const isInput = random.next() < 0.5
  const work = isInput
    ? { ...plan, hiddenInput: 9_000_000_000 }
    : { ...plan, fixed: { output_token: 5_000_000_000 }, reasoning: 0 }
  const answer = { ...planAnswer(random, one), form: 'plain', breakage: 'figures beyond belief' }
  return finish(one, { work, answer, expected: 'beyond', tricks: ['stated: beyond belief'] })
}

/** Served at an unknown tier. */
function unpriced(random: Random, id: number): Case {
  const one = draft(
    random,
    id,
    targetOf(random.pick(['chat pp-tiers', 'responses pp-plain', 'chat pp-plain'])),
  )
  const answer = { ...planAnswer(random, one), breakage: 'an unknown tier' }
  return finish(one, {
    work: planWork(random, one),
    answer,
    expected: 'unpriced',
    tricks: ['stated: an unknown tier'],
  })
}

function leaving(random: Random, id: number): Case {
  const one = draft(random, id)
  const body = { ...one.body, stream: true }
  return finish(
    { ...one, body, stream: true },
    {
      work: planWork(random, one),
      answer: planAnswer(random, { ...one, stream: true }),
      expected: 'full',
      tricks: ['caller leaves'],
      leavesAfter: random.integer(0, 400),
    },
  )
}
