/** Cases of videos, which vendors bill by tokens, by seconds, or by a cost of their own. */
import type { Random } from '../../../testbed/random.ts'
import { type Case, markerOf, type WorkPlan } from '../plan.ts'
import { DEFAULT_SERVED } from '../sheet.ts'
import { build, PLAIN } from './build-media.ts'

export function generateVideo(random: Random, id: number): Case {
  const kinds = [video, searchingVideo, misspelt, wanVideo, minimaxVideo, klingVideo, film] as const
  return random.pick(kinds)(random, id)
}

const ENDS = ['failed', 'expired', 'cancelled'] as const

function video(random: Random, id: number): Case {
  const isFlex = random.next() < 0.3
  const testCase = build(random, id, {
    dialect: 'video',
    model: 'pp-video',
    path: '/v1/videos/generations',
    body: {
      model: 'pp-video',
      content: [{ type: 'text', text: `${markerOf(id)} a river at dawn` }],
      ratio: '16:9',
      ...(isFlex ? { service_tier: 'flex' } : {}),
    },
    work: {
      fixed: { output_token: random.integer(1, 108_900) },
      served: { ...DEFAULT_SERVED, tier: isFlex ? 'flex' : 'standard' },
    },
    tricks: ['video'],
  })
  return random.next() > 0.2 ? stateAs(random, testCase) : endBadly(testCase, random.pick(ENDS))
}

/** Vendors write tokens as texts at times, or state the total alone. */
const TOKENS = ['plain', 'text', 'total'] as const

function stateAs(random: Random, testCase: Case): Case {
  const form = random.pick(TOKENS)
  const { answer, tricks, model } = testCase
  if (form === 'plain' || answer.breakage !== undefined) return testCase
  return {
    ...testCase,
    answer: { ...PLAIN, form },
    tricks: [...tricks, `${model}: tokens as ${form}`],
  }
}

/** The vendor decides how often it searches, each time for a fee. */
function searchingVideo(random: Random, id: number): Case {
  const testCase = build(random, id, {
    dialect: 'video',
    model: 'pp-video-search',
    path: '/v1/videos/generations',
    body: {
      model: 'pp-video-search',
      content: [{ type: 'text', text: `${markerOf(id)} a river at dawn` }],
      tools: [{ type: 'web_search' }],
    },
    work: {
      fixed: {
        output_token: random.integer(1, 108_900),
        web_search_call: random.integer(0, 7),
      },
    },
  })
  const planned: Case = {
    ...testCase,
    answer: PLAIN,
    expected: 'full',
    tricks: ['video: searches'],
  }
  return stateAs(random, planned)
}

/** Members that a vendor could read in place of those that the gateway prices. */
const MISSPELT: readonly [object, ...object[]] = [
  { Type: 'video_url', video_url: { url: 'https://media.example/in.mp4' } },
  { Role: 'reference_image' },
  { Text: 'a river --dur 12 --rs 1080p' },
]

function misspelt(random: Random, id: number): Case {
  const item = { type: 'text', text: `${markerOf(id)} a river`, ...random.pick(MISSPELT) }
  const model = random.pick(['pp-video', 'pp-video-search', 'pp-minimax'])
  const testCase = build(random, id, {
    dialect: 'video',
    model,
    path: '/v1/videos/generations',
    body: { model, content: [item] },
    work: {},
  })
  return { ...testCase, answer: PLAIN, expected: 'refused', tricks: ['not sold: content misspelt'] }
}

function endBadly(testCase: Case, breakage: string): Case {
  const { model } = testCase
  const tricks = [`${model === 'pp-video' ? 'video' : model}: ${breakage}`]
  return { ...testCase, answer: { ...PLAIN, breakage }, expected: 'nothing', tricks }
}

const RESOLUTIONS = ['720p', '1080p', undefined] as const

/** By seconds and resolution; the seconds of input videos are known to the vendor alone. */
function wanVideo(random: Random, id: number): Case {
  const resolution = random.pick(RESOLUTIONS)
  const duration = random.integer(2, 15)
  const hasVideo = random.next() < 0.5
  const item = { type: 'video_url', video_url: { url: 'https://media.example/in.mp4' } }
  const text = { type: 'text', text: `${markerOf(id)} a river at dawn` }
  return secondsVideo(random, id, {
    model: 'pp-wan',
    body: { resolution, duration, content: hasVideo ? [text, item] : [text] },
    second: duration + (hasVideo ? random.integer(1, 15) : 0),
    served: { resolution: resolution === '1080p' ? '1080p' : 'any' },
    form: random.pick(FIGURES),
  })
}

/** By seconds, those of input videos alike, and resolution. */
function minimaxVideo(random: Random, id: number): Case {
  const resolution = random.pick(['768P', '2K', undefined])
  const duration = random.integer(4, 15)
  const hasVideo = random.next() < 0.5
  const item = { type: 'video_url', video_url: { url: 'https://media.example/in.mp4' } }
  const text = { type: 'text', text: `${markerOf(id)} a river at dawn` }
  return secondsVideo(random, id, {
    model: 'pp-minimax',
    body: { resolution, duration, content: hasVideo ? [text, item] : [text] },
    second: duration + (hasVideo ? random.integer(2, 15) : 0),
    served: { resolution: resolution === '2K' ? '2K' : 'any' },
    form: random.pick(FIGURES),
  })
}

/** At routers of many models: the seconds that were made, or what the router states as its cost. */
function film(random: Random, id: number): Case {
  const vendor = random.pick(['fal', 'replicate', 'openrouter'])
  const resolution = random.pick(RESOLUTIONS)
  const duration = random.integer(1, 60)
  const content = [{ type: 'text', text: `${markerOf(id)} a river at dawn` }]
  return secondsVideo(random, id, {
    model: `pp-film-${vendor}`,
    body: { resolution, duration, content },
    second: random.integer(1, duration),
    served: { resolution: resolution === '1080p' ? '1080p' : 'any' },
    form: random.pick(FIGURES),
    ...(vendor === 'openrouter' ? { cost: BigInt(random.integer(1, 9_000_000_000)) } : {}),
  })
}

/** A begun second counts, and figures are texts at times. */
const FIGURES = ['plain', 'text', 'fraction'] as const

/** By the seconds ordered, by resolution and sound; the vendor states no usage. */
function klingVideo(random: Random, id: number): Case {
  const resolution = random.pick(RESOLUTIONS)
  const duration = random.integer(3, 15)
  const sound = random.pick([true, false, undefined])
  const content = [{ type: 'text', text: `${markerOf(id)} a river at dawn` }]
  return secondsVideo(random, id, {
    model: 'pp-kling',
    body: { resolution, duration, content, generate_audio: sound },
    second: duration,
    served: {
      resolution: resolution === '1080p' ? '1080p' : 'any',
      sound: sound === false ? 'off' : 'on',
    },
  })
}

interface SecondsVideo {
  readonly model: string
  readonly body: object
  readonly second: number
  readonly served: Partial<WorkPlan['served']>
  readonly form?: (typeof FIGURES)[number]
  readonly cost?: bigint
}

function secondsVideo(random: Random, id: number, parts: SecondsVideo): Case {
  const { model, body, second, served, form = 'plain', cost } = parts
  const planned = build(random, id, {
    dialect: 'video',
    model,
    path: '/v1/videos/generations',
    body: { model, ...body },
    work: {
      fixed: { second },
      served: { ...DEFAULT_SERVED, ...served },
      ...(cost === undefined ? {} : { cost }),
    },
  })
  const tricks = [form === 'plain' ? model : `${model}: seconds as ${form}`]
  const testCase: Case = { ...planned, answer: { ...PLAIN, form }, expected: 'full', tricks }
  return random.next() > 0.2 ? testCase : endBadly(testCase, 'failed')
}
