/** Converts the price sheet to a catalog file, from which the gateway reads its prices. */
import { serviceAccountOf } from '../../simulators/google/tokens.ts'
import { routeCosts } from './lists/book.ts'
import type { Rates } from './rates.ts'
import { type Card, SHEETS, type Sheet } from './sheet.ts'

/** A price as a catalog file has it. */
export interface Entry {
  readonly unit: string
  readonly per: number
  readonly amount: string
  readonly when?: Readonly<Record<string, unknown>>
}

/** Timeouts of an impatient model. */
const FIRST_BYTE_MS = 1_500
const IDLE_MS = 700
const TOTAL_MS = 6_000

/** Returns a catalog file whose channels lead to `vendorUrl`. `only` names the models to keep. */
export function catalogFor(vendorUrl: string, only?: readonly string[]): object {
  const sheets = SHEETS.filter(({ id }) => !only || only.includes(id))
  const used = new Set(['pp-paused', ...sheets.map(({ channel }) => channel)])
  return {
    source: 'prove-prices',
    currency: 'USD',
    channels: channelsAt(vendorUrl).filter(({ id }) => used.has(id)),
    models: sheets.map(modelOf),
  }
}

function channelsAt(url: string) {
  const openai = { base_url: `${url}/v1`, api_key: 'none' }
  return [
    { id: 'pp-openai', upstream: 'openai-compatible', settings: { ...openai, stored_ids: 'any' } },
    {
      id: 'pp-translated',
      upstream: 'openai-compatible',
      settings: { ...openai, responses: 'translate' },
    },
    { id: 'pp-paused', upstream: 'openai-compatible', paused: true, settings: openai },
    {
      id: 'pp-europe',
      upstream: 'openai-compatible',
      settings: { ...openai, region: 'eu' },
    },
    {
      id: 'pp-project',
      upstream: 'openai-compatible',
      settings: { ...openai, default_service_tier: 'fast' },
    },
    ...ownFormats(url),
  ]
}

function ownFormats(url: string) {
  return [
    {
      id: 'pp-anthropic',
      upstream: 'anthropic',
      settings: { base_url: `${url}/anthropic`, api_key: 'none' },
    },
    {
      id: 'pp-bedrock',
      upstream: 'bedrock',
      settings: { base_url: `${url}/bedrock`, region: 'us-east-1', api_key: 'none' },
    },
    {
      id: 'pp-vertex',
      upstream: 'anthropic-vertex',
      settings: { base_url: `${url}/google`, service_account: serviceAccountOf(url) },
    },
    {
      id: 'pp-gemini',
      upstream: 'gemini',
      settings: { base_url: `${url}/google`, api_key: 'none' },
    },
    {
      id: 'pp-rerank',
      upstream: 'rerank',
      settings: { shape: 'jina', base_url: `${url}/rerank`, api_key: 'none' },
    },
    {
      id: 'pp-rerank-units',
      upstream: 'rerank',
      settings: { shape: 'cohere', base_url: `${url}/rerank`, api_key: 'none' },
    },
    {
      id: 'pp-ark',
      upstream: 'ark',
      settings: { base_url: `${url}/ark`, api_key: 'none', callbacks: false },
    },
    {
      id: 'pp-dashscope',
      upstream: 'dashscope',
      settings: { base_url: `${url}/dashscope`, api_key: 'none' },
    },
    {
      id: 'pp-kling',
      upstream: 'kling',
      settings: { base_url: `${url}/kling`, api_key: 'none' },
    },
    {
      id: 'pp-minimax',
      upstream: 'minimax',
      settings: { base_url: `${url}/minimax`, api_key: 'none', callbacks: false },
    },
    ...['fal', 'replicate', 'openrouter'].map((preset) => ({
      id: `pp-${preset}`,
      upstream: 'media-tasks',
      settings: { preset, base_url: `${url}/${preset}`, api_key: 'none', stated_usage: true },
    })),
    {
      id: 'pp-speech',
      upstream: 'doubao-speech',
      settings: { base_url: `${url}/speech`, api_key: 'none' },
    },
  ]
}

function modelOf(sheet: Sheet): object {
  const { id, type, channel, upstreamModel = id, maxOutput, maxInput } = sheet
  return {
    id,
    type,
    prices: pricesOf(sheet),
    routes: routesOf(sheet, { channel, upstream_model: upstreamModel }),
    limits: {
      ...(maxOutput === undefined ? {} : { max_output_tokens: maxOutput }),
      ...(maxInput === undefined ? {} : { max_input_tokens: maxInput }),
      ...(sheet.impatient
        ? {
            first_byte_timeout_ms: FIRST_BYTE_MS,
            idle_timeout_ms: IDLE_MS,
            total_timeout_ms: TOTAL_MS,
          }
        : {}),
    },
    details: { example: true, ...hoursOf(sheet) },
  }
}

/** A paused channel serves nothing, and its costs count where prices follow costs. */
function routesOf(sheet: Sheet, route: object): object[] {
  const costs = routeCosts(sheet)
  if (!costs) return [route]
  const usual = { ...route, costs: pricesOf(costs.usual) }
  if (!costs.paused) return [usual]
  return [usual, { ...route, channel: 'pp-paused', priority: 1, costs: pricesOf(costs.paused) }]
}

/** The most specific cards come first: the first entry whose conditions hold is the price. */
export function pricesOf({ cards, fees = {}, others = {}, clock }: Sheet): Entry[] {
  if (clock) return clockPrices(cards, clock)
  const bySpecificity = [...cards].sort((a, b) => conditionsOf(b).length - conditionsOf(a).length)
  return [
    ...Object.entries(others).flatMap(([model, rates]) => entriesOf(rates, { model })),
    ...bySpecificity.flatMap((card) =>
      entriesOf(card.rates, Object.fromEntries(conditionsOf(card))),
    ),
    ...feesOf(fees),
  ]
}

/** The kinds of a tool come before the tool. */
function feesOf(fees: Rates): Entry[] {
  const entries = Object.entries(fees).map(([name, [amount, per]]): Entry => {
    const [unit = '', tool] = name.split(':')
    return { unit, per, amount, ...(tool === undefined ? {} : { when: { tool } }) }
  })
  return entries.sort((a, b) => Number(a.when === undefined) - Number(b.when === undefined))
}

function clockPrices(cards: Sheet['cards'], { now, otherwise }: NonNullable<Sheet['clock']>) {
  const [first] = cards
  const rates = { peak: first?.rates ?? {}, off_peak: otherwise }
  if (now === 'off_peak') Object.assign(rates, { peak: otherwise, off_peak: first?.rates ?? {} })
  return [...entriesOf(rates.peak, { clock: 'peak' }), ...entriesOf(rates.off_peak, {})]
}

/** Peak hours that include this moment and the next days, or that are days away. */
function hoursOf({ clock }: Sheet): object {
  if (!clock) return {}
  const today = new Date().getUTCDay() || 7
  const days = clock.now === 'peak' ? [1, 2, 3, 4, 5, 6, 7] : [((today + 2) % 7) + 1]
  return { peak_hours: { time_zone: '+00:00', days, hours: ['00:00-24:00'] } }
}

function entriesOf(rates: Rates, when: Readonly<Record<string, unknown>>): Entry[] {
  const isAlways = Object.keys(when).length === 0
  return Object.entries(rates).map(([unit, [amount, per]]) => ({
    unit,
    per,
    amount,
    ...(isAlways ? {} : { when }),
  }))
}

function conditionsOf(card: Card): (readonly [string, unknown])[] {
  const { tier, speed, region, mode, thinking, size, resolution, sound, from } = card
  const named: readonly (readonly [string, unknown])[] = [
    ['service_tier', tier],
    ['speed', speed],
    ['region', region],
    ['cache_mode', mode],
    ['thinking', thinking],
    ['size', size],
    ['resolution', resolution],
    ['audio', sound === undefined ? undefined : sound === 'on'],
    ['input_tokens', from === undefined ? undefined : { min: from }],
  ]
  return named.filter(([, value]) => value !== undefined)
}
