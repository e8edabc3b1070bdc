/**
 * The vendor's price sheet of the proof, the only source of its prices: the vendor's book evaluates
 * it with its own code, and the gateway reads it as a catalog file.
 */

import { claudeRates, geminiRates, perMillion, type Rates, textRates } from './rates.ts'
import { VIDEOS } from './video-sheets.ts'

/** Quantities by unit. The unit names are the catalog's; nothing else is shared with it. */
export type Counts = Readonly<Record<string, number>>

/** Service conditions of a call. The first member of each list is the default. */
export interface Served {
  readonly tier: 'standard' | 'flex' | 'fast' | 'ultrafast'
  readonly speed: 'standard' | 'fast'
  readonly region: 'global' | 'us' | 'eu'
  readonly mode: 'implicit' | 'explicit'
  readonly thinking: 'off' | 'on'
  /** Of a picture. */
  readonly size: 'any' | '2K' | typeof LARGE_PICTURE
  /** Of a video. */
  readonly resolution: 'any' | '1080p' | '2K'
  readonly sound: 'off' | 'on'
}

export const LARGE_PICTURE = '2048x2048'

export const DEFAULT_SERVED: Served = {
  tier: 'standard',
  speed: 'standard',
  region: 'global',
  mode: 'implicit',
  thinking: 'off',
  size: 'any',
  resolution: 'any',
  sound: 'off',
}

/** The rates under one set of service conditions; an absent member is the default. */
export interface Card extends Partial<Served> {
  /** The rates apply to the whole request from so many input tokens on. */
  readonly from?: number
  readonly rates: Rates
}

export interface Sheet {
  readonly id: string
  readonly type: 'chat' | 'embedding' | 'image' | 'rerank' | 'speech' | 'transcription' | 'video'
  readonly channel: string
  readonly upstreamModel?: string
  readonly cards: readonly Card[]
  /** Fees by call, minute or image, also of one kind of a tool: the same on every card. */
  readonly fees?: Rates
  /** Models that may do a pass of a call, with their rates. */
  readonly others?: Readonly<Record<string, Rates>>
  readonly maxOutput?: number
  readonly maxInput?: number
  /** Channel settings that apply if an answer does not state the service conditions. */
  readonly usually?: Partial<Served>
  /** The current hours of the model, and its rates in the others. */
  readonly clock?: { readonly now: 'peak' | 'off_peak'; readonly otherwise: Rates }
  /** Short timeouts, for answers that stall. */
  readonly impatient?: true
  /** Work beside the output of every call. */
  readonly always?: Counts
}

const THOUSAND = 1_000

const TIERS: Sheet = {
  id: 'pp-tiers',
  type: 'chat',
  channel: 'pp-openai',
  maxOutput: 128_000,
  maxInput: 922_000,
  cards: [
    { rates: textRates('2', '0.2', '2.5', '8') },
    { from: 272_001, rates: textRates('4', '0.4', '5', '12') },
    { tier: 'fast', rates: textRates('4', '0.4', '5', '16') },
    { tier: 'fast', from: 272_001, rates: textRates('8', '0.8', '10', '24') },
    { tier: 'flex', rates: textRates('1', '0.1', '1.25', '4') },
    { tier: 'flex', from: 272_001, rates: textRates('2', '0.2', '2.5', '6') },
    { tier: 'ultrafast', rates: textRates('12', '1.2', '15', '48') },
    { tier: 'ultrafast', from: 272_001, rates: textRates('24', '2.4', '30', '72') },
  ],
  fees: {
    web_search_call: ['10', THOUSAND],
    file_search_call: ['2.5', THOUSAND],
    container_minute: ['0.03', 20],
    'container_minute:4g': ['0.12', 20],
    'web_search_call:preview': ['25', THOUSAND],
  },
  others: {
    'pp-picture': perMillion({
      input_token: '5',
      image_input_token: '8',
      image_output_token: '30',
      output_token: '10',
    }),
  },
}

const CLAUDE: Sheet = {
  id: 'pp-claude',
  type: 'chat',
  channel: 'pp-anthropic',
  maxOutput: 128_000,
  cards: [
    { rates: claudeRates(['2', '0.1', '2.5', '4', '10']) },
    { speed: 'fast', rates: claudeRates(['4', '0.2', '5', '8', '20']) },
    { region: 'us', rates: claudeRates(['2.2', '0.11', '2.75', '4.4', '11']) },
    { speed: 'fast', region: 'us', rates: claudeRates(['4.4', '0.22', '5.5', '8.8', '22']) },
  ],
  fees: { web_search_call: ['10', THOUSAND], web_fetch_call: ['0', 1] },
  others: { 'pp-advisor': claudeRates(['5', '0.5', '6.25', '10', '25']) },
}

function onCloud(cloud: string, upstreamModel: string): Sheet {
  const cards = [{ rates: claudeRates(['3', '0.3', '3.75', '6', '15']) }]
  const id = `pp-claude-${cloud}`
  return { id, type: 'chat', channel: `pp-${cloud}`, upstreamModel, maxOutput: 64_000, cards }
}

const PEAK = perMillion({ input_token: '2', cached_input_token: '0.04', output_token: '8' })
const OFF_PEAK = perMillion({ input_token: '1', cached_input_token: '0.02', output_token: '4' })

const TEXT: readonly Sheet[] = [
  {
    id: 'pp-plain',
    type: 'chat',
    channel: 'pp-openai',
    cards: [{ rates: perMillion({ input_token: '3', output_token: '15' }) }],
  },
  {
    id: 'pp-translated',
    type: 'chat',
    channel: 'pp-translated',
    cards: [{ rates: textRates('0.75', '0.075', '0.9375', '4.5') }],
  },
  TIERS,
  {
    id: 'pp-mini',
    type: 'chat',
    channel: 'pp-openai',
    maxOutput: 16_384,
    cards: [
      {
        rates: perMillion({ input_token: '0.25', cached_input_token: '0.025', output_token: '2' }),
      },
      {
        tier: 'flex',
        rates: perMillion({
          input_token: '0.125',
          cached_input_token: '0.0125',
          output_token: '1',
        }),
      },
    ],
  },
  {
    id: 'pp-audio',
    type: 'chat',
    channel: 'pp-openai',
    maxOutput: 16_384,
    cards: [
      {
        rates: perMillion({
          input_token: '2.5',
          cached_input_token: '1.25',
          audio_input_token: '32',
          image_input_token: '5',
          output_token: '10',
          audio_output_token: '64',
        }),
      },
    ],
  },
  {
    id: 'pp-reason',
    type: 'chat',
    channel: 'pp-openai',
    maxOutput: 131_072,
    cards: [
      {
        rates: perMillion({ input_token: '0.3', cached_input_token: '0.075', output_token: '0.5' }),
      },
      {
        from: 200_000,
        rates: perMillion({ input_token: '0.6', cached_input_token: '0.15', output_token: '1' }),
      },
    ],
  },
  {
    id: 'pp-exclusive',
    type: 'chat',
    channel: 'pp-openai',
    maxOutput: 32_768,
    cards: [{ rates: textRates('1', '0.1', '1.25', '5') }],
  },
  {
    id: 'pp-cost',
    type: 'chat',
    channel: 'pp-openai',
    maxOutput: 32_768,
    cards: [{ rates: perMillion({ input_token: '3', output_token: '15' }) }],
    fees: { vendor_cost: ['1.2', 1_000_000_000] },
  },
  {
    id: 'pp-search-api',
    type: 'chat',
    channel: 'pp-openai',
    cards: [{ rates: perMillion({ input_token: '1.25', output_token: '10' }) }],
    fees: { web_search_call: ['10', THOUSAND] },
    always: { web_search_call: 1 },
  },
  {
    id: 'pp-impatient',
    type: 'chat',
    channel: 'pp-openai',
    maxOutput: 4_096,
    impatient: true,
    cards: [{ rates: perMillion({ input_token: '3', output_token: '15' }) }],
  },
  CLAUDE,
  {
    id: 'pp-claude-few',
    type: 'chat',
    channel: 'pp-anthropic',
    cards: [{ rates: perMillion({ input_token: '3', output_token: '15' }) }],
  },
  {
    id: 'pp-claude-long',
    type: 'chat',
    channel: 'pp-anthropic',
    maxOutput: 64_000,
    cards: [
      { rates: claudeRates(['0.1', '0.01', '0.125', '0.2', '0.5']) },
      { from: 100_001, rates: claudeRates(['0.5', '0.05', '0.625', '1', '2.5']) },
    ],
  },
  onCloud('bedrock', 'global.anthropic.pp-claude-v1:0'),
  onCloud('vertex', 'pp-claude@20260101'),
  {
    id: 'pp-gemini',
    type: 'chat',
    channel: 'pp-gemini',
    upstreamModel: 'pp-gemini-3',
    maxOutput: 65_536,
    cards: [
      { rates: geminiRates(['1.25', '0.125', '3', '10', '60']) },
      { from: 200_001, rates: geminiRates(['2.5', '0.25', '6', '15', '90']) },
    ],
  },
  {
    id: 'pp-region',
    type: 'chat',
    channel: 'pp-europe',
    cards: [
      { rates: textRates('2.5', '0.25', '3.125', '15') },
      { region: 'eu', rates: textRates('2.75', '0.275', '3.4375', '16.5') },
    ],
    usually: { region: 'eu' },
  },
  {
    id: 'pp-project',
    type: 'chat',
    channel: 'pp-project',
    cards: [
      { rates: textRates('2.5', '0.25', '3.125', '15') },
      { tier: 'fast', rates: textRates('5', '0.5', '6.25', '30') },
    ],
    usually: { tier: 'fast' },
  },
  {
    id: 'pp-peak',
    type: 'chat',
    channel: 'pp-openai',
    cards: [{ rates: PEAK }],
    clock: { now: 'peak', otherwise: OFF_PEAK },
  },
  {
    id: 'pp-off-peak',
    type: 'chat',
    channel: 'pp-openai',
    cards: [{ rates: OFF_PEAK }],
    clock: { now: 'off_peak', otherwise: PEAK },
  },
  {
    id: 'pp-modes',
    type: 'chat',
    channel: 'pp-openai',
    maxOutput: 32_768,
    cards: modesCards(),
  },
]

/** A cache price by mode, an output price by thinking, and bands of length. */
function modesCards(): Card[] {
  const bands: readonly (readonly [number | undefined, string, string, string])[] = [
    [undefined, '0.8', '2', '8'],
    [128_001, '2.4', '20', '24'],
  ]
  return bands.flatMap(([from, input, plain, thinking]) =>
    (['implicit', 'explicit'] as const).flatMap((mode) =>
      (['off', 'on'] as const).map((state): Card => {
        const rates = perMillion({
          input_token: input,
          cached_input_token: mode === 'explicit' ? '0.08' : '0.16',
          cache_write_5m_token: '1',
          output_token: state === 'on' ? thinking : plain,
        })
        return {
          rates,
          ...(mode === 'explicit' ? { mode } : {}),
          ...(state === 'on' ? { thinking: state } : {}),
          ...(from === undefined ? {} : { from }),
        }
      }),
    ),
  )
}

const MEDIA: readonly Sheet[] = [
  {
    id: 'pp-embed',
    type: 'embedding',
    channel: 'pp-openai',
    cards: [{ rates: perMillion({ input_token: '0.02' }) }],
  },
  {
    id: 'pp-rerank',
    type: 'rerank',
    channel: 'pp-rerank',
    cards: [{ rates: perMillion({ input_token: '0.05' }) }],
  },
  {
    id: 'pp-rerank-units',
    type: 'rerank',
    channel: 'pp-rerank-units',
    cards: [{ rates: { search_unit: ['2.5', THOUSAND] } }],
  },
  {
    id: 'pp-image-tokens',
    type: 'image',
    channel: 'pp-openai',
    maxOutput: 6_240,
    cards: [
      {
        rates: perMillion({ input_token: '5', image_input_token: '10', image_output_token: '40' }),
      },
    ],
  },
  { id: 'pp-image', type: 'image', channel: 'pp-ark', cards: [{ rates: { image: ['0.25', 1] } }] },
  {
    id: 'pp-image-sizes',
    type: 'image',
    channel: 'pp-openai',
    cards: [{ rates: { image: ['1', 1] } }, { size: LARGE_PICTURE, rates: { image: ['9', 1] } }],
  },
  {
    id: 'pp-qwen-image',
    type: 'image',
    channel: 'pp-dashscope',
    upstreamModel: 'qwen-image-3.0',
    cards: [{ rates: { image: ['0.03', 1] } }, { size: '2K', rates: { image: ['0.05', 1] } }],
  },
  {
    id: 'pp-speech',
    type: 'speech',
    channel: 'pp-speech',
    upstreamModel: 'seed-tts-2.0',
    cards: [{ rates: { character: ['2.8', 10_000] } }],
  },
  {
    id: 'pp-transcription',
    type: 'transcription',
    channel: 'pp-openai',
    cards: [{ rates: { second: ['0.006', 60] } }],
  },
  ...VIDEOS,
]

/** Models that no case calls: their prices show which lists the gateway knows. */
export const PROBES: readonly string[] = Array.from({ length: 8 }, (_, at) => `pp-probe-${at}`)

const SHOWN: readonly Sheet[] = PROBES.map((id) => ({
  id,
  type: 'chat',
  channel: 'pp-openai',
  cards: [{ rates: perMillion({ input_token: '0.5' }) }],
}))

export const SHEETS: readonly Sheet[] = [...TEXT, ...MEDIA, ...SHOWN]

export function sheetOf(id: string): Sheet {
  const found = SHEETS.find((sheet) => sheet.id === id || sheet.upstreamModel === id)
  if (!found) throw new Error(`the vendor does not know ${id}`)
  return found
}
