/** The text models as each dialect sees them, and the form of their usage on the wire. */
import type { Random } from '../../../testbed/random.ts'
import type { Counts } from '../sheet.ts'

export type TextDialect = 'chat' | 'responses' | 'messages' | 'contents'

/** A model as one dialect sees it: its wire format, and the form of its usage there. */
export interface Target {
  readonly dialect: TextDialect
  readonly model: string
  readonly native: boolean
  readonly forms: readonly [string, ...string[]]
  readonly shares: readonly [Counts, ...Counts[]]
  /** The output limit of the price sheet, if the caller sets none. */
  readonly most: number
}

const NONE: Counts = {}
const CACHED: Counts = { cached_input_token: 600 }
const WRITTEN: Counts = { cached_input_token: 300, cache_write_token: 350 }
const CLAUDE: Counts = {
  cached_input_token: 450,
  cache_write_5m_token: 200,
  cache_write_1h_token: 50,
}
const CLAUDE_SHORT: Counts = { cached_input_token: 450, cache_write_5m_token: 300 }

export function target(
  dialect: TextDialect,
  model: string,
  more: Partial<Omit<Target, 'dialect' | 'model'>>,
): Target {
  return {
    dialect,
    model,
    native: true,
    forms: ['plain', 'bare'],
    shares: [NONE, CACHED],
    most: 100_000,
    ...more,
  }
}

const GEMINI = {
  native: false,
  forms: ['plain', 'inclusive', 'no total', 'lying total', 'thoughts in the total', 'tools'],
  shares: [NONE, CACHED, { audio_input_token: 300, image_input_token: 100 }],
  most: 65_536,
} as const

const CHAT_FORMS = ['plain', 'bare', 'null-details'] as const
const HIT_FORMS = [
  'plain',
  'hit-and-miss',
  'cached-on-top',
  'num-cached',
  'total for output',
] as const
const MANY = [NONE, CACHED, WRITTEN] as const

export const TARGETS: readonly [Target, ...Target[]] = [
  target('chat', 'pp-plain', { forms: CHAT_FORMS }),
  target('chat', 'pp-tiers', { forms: CHAT_FORMS, shares: MANY, most: 128_000 }),
  target('chat', 'pp-mini', { forms: HIT_FORMS, most: 16_384 }),
  target('chat', 'pp-audio', {
    forms: ['plain'],
    shares: [NONE, { audio_input_token: 300, image_input_token: 100 }, CACHED],
    most: 16_384,
  }),
  target('chat', 'pp-reason', { forms: ['reasoning-outside'] }),
  target('chat', 'pp-exclusive', {
    forms: ['exclusive', 'exclusive, reasoning outside'],
    shares: [{ cached_input_token: 700, cache_write_token: 100 }, { cached_input_token: 900 }],
    most: 32_768,
  }),
  target('chat', 'pp-cost', {
    forms: ['cost', 'ticks', 'cost beside a tool'],
    shares: [NONE],
    most: 32_768,
  }),
  target('chat', 'pp-modes', { forms: ['creation'], most: 32_768 }),
  target('chat', 'pp-claude', { native: false, shares: [NONE, CLAUDE, CLAUDE_SHORT] }),
  target('chat', 'pp-claude-few', { native: false, shares: [NONE] }),
  target('chat', 'pp-region', { shares: MANY }),
  target('chat', 'pp-project', { shares: MANY }),
  target('responses', 'pp-project', { shares: MANY }),
  target('chat', 'pp-peak', {}),
  target('chat', 'pp-off-peak', {}),
  target('responses', 'pp-plain', {}),
  target('responses', 'pp-tiers', { shares: MANY, most: 128_000 }),
  target('responses', 'pp-mini', { most: 16_384 }),
  target('responses', 'pp-translated', { native: false, forms: CHAT_FORMS, shares: MANY }),
  target('messages', 'pp-claude', {
    forms: ['plain', 'bare', 'compaction'],
    shares: [NONE, CLAUDE, CLAUDE_SHORT],
  }),
  target('messages', 'pp-claude-few', { shares: [NONE] }),
  target('messages', 'pp-claude-long', { shares: [NONE, CLAUDE], most: 64_000 }),
  target('messages', 'pp-claude-bedrock', { shares: [NONE, CLAUDE], most: 64_000 }),
  target('chat', 'pp-claude-bedrock', { native: false, shares: [NONE, CLAUDE], most: 64_000 }),
  target('messages', 'pp-claude-vertex', { shares: [NONE, CLAUDE], most: 64_000 }),
  target('contents', 'pp-gemini', { ...GEMINI, native: true }),
  target('chat', 'pp-gemini', { ...GEMINI }),
  target('messages', 'pp-gemini', { ...GEMINI }),
  target('responses', 'pp-gemini', { ...GEMINI }),
  target('messages', 'pp-plain', { native: false, forms: CHAT_FORMS }),
  target('messages', 'pp-mini', { native: false, forms: HIT_FORMS, most: 16_384 }),
  target('messages', 'pp-project', { native: false, forms: CHAT_FORMS, shares: MANY }),
  target('chat', 'pp-search-api', { forms: CHAT_FORMS, shares: [NONE] }),
  target('messages', 'pp-search-api', { native: false, forms: CHAT_FORMS, shares: [NONE] }),
  target('messages', 'pp-tiers', { native: false, forms: CHAT_FORMS, shares: MANY }),
]

export const PLACEMENTS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  whole: ['usage', 'usage', 'choice', 'x_groq'],
  events: [
    'last',
    'null before',
    'every chunk',
    'with the finish',
    'choice',
    'x_groq',
    'twice',
    'late',
    'growing',
    'shrinking',
  ],
  responses: ['completed', 'completed', 'incomplete', 'shrinking'],
  contents: ['last', 'growing', 'traffic', 'shrinking'],
  messages: ['last', 'all at the end', 'growing', 'shrinking', 'estimated start'],
}

export function pickTarget(random: Random): Target {
  return random.pick(TARGETS)
}

export function targetOf(key: string): Target {
  const found = TARGETS.find(({ dialect, model }) => `${dialect} ${model}` === key)
  if (!found) throw new Error(`no target ${key}`)
  return found
}

export function wireOf({ dialect, model }: Target): TextDialect | 'contents' {
  if (model === 'pp-gemini') return 'contents'
  if (model.startsWith('pp-claude')) return 'messages'
  return dialect === 'responses' && model !== 'pp-translated' ? 'responses' : 'chat'
}
