/** Fields of a request that change its price, with the vendor's response to them. */
import type { Random } from '../../../testbed/random.ts'
import type { Counts, Served } from '../sheet.ts'
import type { Pass } from '../vendor/bill.ts'
import type { Body } from './ordinary.ts'
import { addInput } from './tricks-others.ts'

export interface RequestedFeature {
  readonly name: string
  readonly headers?: Readonly<Record<string, string>>
  readonly served?: Partial<Served>
  /** Calls that the vendor runs for it. */
  readonly calls?: Counts
  readonly shares?: Counts
  readonly fixed?: Counts
  readonly passes?: readonly Pass[]
  readonly reasoning?: number
  /** Each pass of a tool reads the input again. */
  readonly tools?: true
  /** The answer does not say how the call was served. */
  readonly silent?: true
}

type Ask = (body: Body, random: Random) => RequestedFeature

function ask(name: string, set: Body, feature: Omit<RequestedFeature, 'name'> = {}): Ask {
  return (body) => {
    Object.assign(body, set)
    return { name, ...feature }
  }
}

function addTool(
  name: string,
  tool: object,
  feature: (random: Random) => Omit<RequestedFeature, 'name'>,
): Ask {
  return (body, random) => {
    const tools = Array.isArray(body.tools) ? body.tools : []
    body.tools = [...tools, tool]
    return { name, tools: true, ...feature(random) }
  }
}

const FAST: Ask = (body, random) => {
  body.service_tier = random.pick(['priority', 'fast'])
  return { name: 'fast', served: { tier: random.next() < 0.7 ? 'fast' : 'standard' } }
}

const TIERS: readonly Ask[] = [
  FAST,
  ask('flex', { service_tier: 'flex' }, { served: { tier: 'flex' } }),
  ask('flex, served as standard', { service_tier: 'flex' }, { served: { tier: 'standard' } }),
  ask('auto, served fast', { service_tier: 'auto' }, { served: { tier: 'fast' } }),
  ask('auto', { service_tier: 'auto' }),
  ask('default', { service_tier: 'default' }),
  ask('tier of null', { service_tier: null }),
  ask('ultrafast', { service_tier: 'ultrafast' }, { served: { tier: 'ultrafast' } }),
]

const HOSTED: readonly Ask[] = [
  addTool('web search', { type: 'web_search', search_context_size: 'low' }, (random) => ({
    calls: { web_search_call: random.integer(0, 5) },
  })),
  addTool('web search, an older one', { type: 'web_search_2025_08_26' }, (random) => ({
    calls: { web_search_call: random.integer(1, 3) },
  })),
  addTool('file search', { type: 'file_search', vector_store_ids: ['vs_1'] }, (random) => ({
    calls: { file_search_call: random.integer(0, 4) },
  })),
  addTool('containers', { type: 'code_interpreter', container: { type: 'auto' } }, (random) => ({
    calls: { container_minute: 20 * random.integer(0, 2) },
  })),
  addTool(
    'large containers',
    { type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } },
    (random) => ({ calls: { 'container_minute:4g': 20 * random.integer(0, 2) } }),
  ),
  addTool('a preview of the search', { type: 'web_search_preview' }, (random) => ({
    calls: { 'web_search_call:preview': random.integer(0, 5) },
  })),
  addTool('pictures', { type: 'image_generation', model: 'pp-picture' }, (random) => ({
    passes: [
      {
        model: 'pp-picture',
        role: 'image_generation',
        counts: {
          input_token: random.integer(1, 60),
          image_input_token: random.integer(0, 900),
          image_output_token: random.integer(200, 6_240),
        },
      },
    ],
  })),
]

/** Searches of chats, which the answer shows by their results, or not at all. */
const SEARCHES: readonly Ask[] = [
  addTool('web search, listed', { type: 'web_search', web_search: { enable: true } }, (random) => ({
    calls: { web_search_call: random.integer(0, 1) },
  })),
  (body, random) => {
    body.enable_search = true
    return { name: 'search, listed', calls: { web_search_call: random.integer(0, 1) }, tools: true }
  },
  ask(
    'search, silent',
    { enable_search: true, search_options: { forced_search: true } },
    { calls: { web_search_call: 1 }, tools: true },
  ),
]

/** Puts tools where they are easily overlooked: into the conversation, and into groups of tools. */
const HIDING: readonly [Hiding, ...Hiding[]] = [
  ['in the input', (body, tools) => addInput(body, additional(tools))],
  [
    'in a namespace of the input',
    (body, tools) => addInput(body, additional([namespace('outer', tools)])),
  ],
  [
    'in namespaces of namespaces',
    (body, tools) => {
      body.tools = [namespace('outer', [namespace('inner', [namespace('last', tools)])])]
    },
  ],
  [
    'beside a tool of the caller',
    (body, tools) =>
      addInput(body, additional([OWN_TOOL, namespace('outer', [OWN_TOOL, ...tools])])),
  ],
]

type Hiding = readonly [name: string, hide: (body: Body, tools: readonly object[]) => void]

const OWN_TOOL = { type: 'function', name: 'look_up', parameters: { type: 'object' } }
const additional = (tools: readonly object[]) => ({
  type: 'additional_tools',
  role: 'developer',
  tools,
})
const namespace = (name: string, tools: readonly object[]) => ({
  type: 'namespace',
  name,
  description: 'more tools',
  tools,
})

/** A hosted tool somewhere in the input, which the vendor runs all the same. */
const HIDDEN: readonly Ask[] = HIDING.map(([where, hide]) => (body, random) => {
  hide(body, [{ type: 'web_search', search_context_size: 'low' }])
  return {
    name: `web search ${where}`,
    tools: true,
    calls: { web_search_call: random.integer(0, 5) },
  }
})

const HIDDEN_TYPES = [
  'web_search',
  'image_generation',
  'file_search',
  'hologram_projection',
] as const

const HIDDEN_NOT_SOLD: readonly Ask[] = HIDING.map(([where, hide]) => (body, random) => {
  const type = random.pick(HIDDEN_TYPES)
  hide(body, [{ type }])
  // A tool of the caller's own, since otherwise any call would be a hosted one.
  body.tool_choice = { type }
  return { name: `${type} ${where}` }
})

const MESSAGE_DIMENSIONS: readonly Ask[] = [
  (body, random) => {
    body.speed = 'fast'
    const headers = { 'anthropic-beta': 'fast-mode-2026-02-01' }
    return { name: 'speed', headers, served: { speed: random.next() < 0.7 ? 'fast' : 'standard' } }
  },
  ask('geo', { inference_geo: 'us' }, { served: { region: 'us' } }),
  (body) => {
    Object.assign(body, { speed: 'fast', inference_geo: 'us' })
    const headers = { 'anthropic-beta': 'fast-mode-2026-02-01' }
    return { name: 'speed and geo', headers, served: { speed: 'fast', region: 'us' } }
  },
  ask(
    'a cache of an hour',
    {
      system: [
        { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      ],
    },
    { shares: { cache_write_1h_token: 400, cache_write_5m_token: 100, cached_input_token: 200 } },
  ),
  addTool(
    'web search',
    { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
    (random) => ({
      calls: { web_search_call: random.integer(0, 5) },
    }),
  ),
  addTool(
    'web fetch',
    { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 3 },
    (random) => ({
      headers: { 'anthropic-beta': 'web-fetch-2025-09-10' },
      calls: { web_fetch_call: random.integer(1, 3) },
    }),
  ),
  addTool(
    'an advisor',
    {
      type: 'advisor_20260301',
      name: 'advisor',
      model: 'pp-advisor',
      max_uses: 2,
      max_tokens: 4_000,
    },
    (random) => ({
      headers: { 'anthropic-beta': 'advisor-tool-2026-03-01' },
      passes: [
        {
          model: 'pp-advisor',
          role: 'advisor',
          counts: {
            input_token: random.integer(100, 9_000),
            cached_input_token: random.integer(0, 500),
            output_token: random.integer(10, 4_000),
          },
        },
      ],
    }),
  ),
]

const AUDIO: readonly Ask[] = [
  (body, random) => {
    Object.assign(body, { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } })
    return { name: 'spoken answer', fixed: { audio_output_token: random.integer(1, 900) } }
  },
  (body) => {
    const messages = body.messages as { content: unknown }[]
    const last = messages.at(-1)
    const sound = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
    if (last) last.content = [{ type: 'text', text: last.content }, sound]
    return { name: 'spoken question', shares: { audio_input_token: 600 } }
  },
]

const MODES: readonly Ask[] = [
  (body) => {
    const messages = body.messages as { content: unknown }[]
    const last = messages.at(-1)
    const cache = { cache_control: { type: 'ephemeral' } }
    if (last) last.content = [{ type: 'text', text: last.content, ...cache }]
    return {
      name: 'explicit cache',
      served: { mode: 'explicit' },
      shares: { cached_input_token: 500, cache_write_5m_token: 200 },
    }
  },
  ask(
    'a mark that the vendor does not read',
    { cache_control: {} },
    { shares: { cached_input_token: 500 } },
  ),
  ask('thinking', { enable_thinking: true }, { served: { thinking: 'on' }, reasoning: 7 }),
]

/** Features that a model sells, keyed by `dialect model`. */
export const SOLD: Readonly<Record<string, readonly Ask[]>> = {
  'chat pp-tiers': [...TIERS, ...SEARCHES],
  'responses pp-tiers': [...TIERS, ...HOSTED, ...HOSTED, ...HIDDEN],
  'messages pp-claude': MESSAGE_DIMENSIONS,
  'chat pp-mini': [ask('flex', { service_tier: 'flex' }, { served: { tier: 'flex' } })],
  'chat pp-audio': AUDIO,
  'chat pp-modes': MODES,
  // Options that a translation drops, or that do not decide how the vendor serves, change no price.
  'chat pp-claude': [ask('a speed that is not sent', { speed: 'fast' }, { silent: true })],
  'chat pp-region': [ask('another region', { inference_geo: 'global' })],
  'messages pp-project': [ask('the standard tier', { service_tier: 'standard_only' })],
  'messages pp-tiers': [ask('flex', { service_tier: 'flex' }, { served: { tier: 'flex' } })],
}

const hosted = (type: string, more: object = {}) => ({ tools: [{ type, ...more }] })

const NO_TIERS: readonly Ask[] = [
  ask('priority', { service_tier: 'priority' }),
  ask('fast', { service_tier: 'fast' }),
  ask('flex', { service_tier: 'flex' }),
  ask('ultrafast', { service_tier: 'ultrafast' }),
  ask('an unknown tier', { service_tier: 'turbo' }),
  ask('another spelling', { service_tier: 'Priority' }),
]

const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } }

/** Tools that are only offered are taken out instead. */
const FORCED = { tool_choice: 'required' }

/** Features without a price in pp-plain and pp-claude-few: refused before anything is sent. */
export const NOT_SOLD: Readonly<Record<string, readonly Ask[]>> = {
  'chat pp-plain': [
    ...NO_TIERS,
    ask('a search', { search_parameters: { mode: 'on' } }),
    ask('speech', { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }),
    ...AUDIO.slice(1),
    ask('a hosted tool', { ...hosted('web_search'), ...FORCED }),
  ],
  'responses pp-plain': [
    ...NO_TIERS,
    ask('web search', { ...hosted('web_search'), ...FORCED }),
    ask('web search preview', { ...hosted('web_search_preview'), ...FORCED }),
    ask('file search', { ...hosted('file_search', { vector_store_ids: ['vs_1'] }), ...FORCED }),
    ask('a container', {
      ...hosted('code_interpreter', { container: { type: 'auto' } }),
      ...FORCED,
    }),
    ask('pictures', { ...hosted('image_generation'), ...FORCED }),
    ask('a tool of tomorrow', { ...hosted('hologram_projection'), ...FORCED }),
    ...HIDDEN_NOT_SOLD,
  ],
  'messages pp-claude-few': [
    ask('speed', { speed: 'fast' }, { headers: { 'anthropic-beta': 'fast-mode-2026-02-01' } }),
    ask('geo', { inference_geo: 'us' }),
    ask('an hour in the system prompt', { system: [{ type: 'text', text: 'Be brief.', ...HOUR }] }),
    ask('an hour on a tool', { tools: [{ name: 'f', input_schema: { type: 'object' }, ...HOUR }] }),
    ask('an hour on top', HOUR),
    ask('web search', {
      ...hosted('web_search_20250305', { name: 'web_search' }),
      tool_choice: { type: 'any' },
    }),
    ask('an advisor', hosted('advisor_20260301', { name: 'advisor', model: 'pp-advisor' }), {
      headers: { 'anthropic-beta': 'advisor-tool-2026-03-01' },
    }),
    ask(
      'fallbacks',
      { fallbacks: [{ model: 'pp-advisor' }] },
      {
        headers: { 'anthropic-beta': 'server-side-fallback-2026-06-01' },
      },
    ),
  ],
}
