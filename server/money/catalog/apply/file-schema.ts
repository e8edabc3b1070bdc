/**
 * The schema of a catalog file. Its output is the form in which models are stored and compared:
 * with defaults filled in, amounts in their shortest form and times in UTC. Unknown fields are
 * rejected, since a misspelled price would be free.
 */

import { z } from 'zod'
import { eachLimit } from '../../../base/lib/kinds-and-states.ts'
import { MODEL_TYPES, type ModelType } from '../catalog.ts'
import { tokenIssuer } from '../issuers/issuer-schema.ts'
import { moment, priceList } from '../lists/list-schema.ts'
import { peakHours } from '../price/clock.ts'
import { expandPlans } from '../price/expand-plans.ts'
import { checkPrices, type Refuse } from '../price/price-checks.ts'
import type { price } from '../price/price-schema.ts'
import {
  atLeastOne,
  channelId,
  currency,
  entrySource,
  modelId,
  name,
  prices,
} from '../price/price-schema.ts'

/** Prices that take effect at a future time, permanently or until another time. */
const plannedPrices = z
  .strictObject({
    effective_from: moment.optional(),
    /** An alias, as in price lists. */
    from: moment.optional(),
    until: moment.optional(),
    prices: prices.min(1, 'needs a price'),
  })
  .check(({ value, issues }) => {
    const refuse = (name: string, message: string) =>
      issues.push({ code: 'custom', input: value, path: [name], message })
    const { effective_from: begins, from = begins, until } = value
    if (from === undefined) refuse('effective_from', 'required')
    else if (begins !== undefined && begins !== from)
      refuse('from', 'cannot be combined with "effective_from"')
    else if (until !== undefined && until <= from) refuse('until', 'must be after the start')
  })
  .transform(({ effective_from: begins = '', from = begins, ...plan }) => {
    return { effective_from: from, ...plan }
  })

/** A route to a channel, or to another model that is charged at its own price. */
const route = z.strictObject({
  channel: channelId.optional(),
  model: modelId.optional(),
  upstream_model: z.string().min(1).max(200).optional(),
  priority: z.int().min(0).max(1000).default(0),
  weight: z.int().min(1).max(10_000).default(1),
  /** The upstream cost, in the form of prices; a route without costs has an unknown cost. */
  costs: prices.min(1, 'needs a cost: omit "costs" if they are unknown, or use "0"').optional(),
})

const limits = z.strictObject({
  ...eachLimit(atLeastOne.optional()),
  max_output_tokens: atLeastOne.optional(),
  max_input_tokens: atLeastOne.optional(),
  first_byte_timeout_ms: atLeastOne.max(3_600_000).optional(),
  idle_timeout_ms: atLeastOne.max(3_600_000).optional(),
  total_timeout_ms: atLeastOne.max(86_400_000).optional(),
})

/** Details of a model. Any field may be added; these have a fixed shape. */
const details = z.looseObject({
  display_name: z.string().max(200).optional(),
  description: z.string().max(2000).optional(),
  owned_by: z.string().max(100).optional(),
  context_window: atLeastOne.optional(),
  /** Abilities of the model, such as `tools`, `vision` or `reasoning`. */
  abilities: z.array(z.string().max(40)).max(20).optional(),
  /** The source of the price. */
  price_source: z.string().max(500).optional(),
  /** The date when the price was read there, and since when it is valid. */
  price_date: z.iso.date('must be a date such as "2026-11-22"').optional(),
  valid_from: z.iso.date('must be a date such as "2026-11-22"').optional(),
  /** The hours in which `clock` is `peak` in price conditions. */
  peak_hours: peakHours.optional(),
  /** The price is invented. */
  example: z.boolean().optional(),
  /** The stored form of a model's `unpriced_tools`. */
  unpriced_tools: z.literal('refuse').optional(),
  /** The stored form of a model's `routing`. */
  routing: z.literal('cheapest').optional(),
})

const model = z
  .strictObject({
    id: modelId,
    type: z.enum(MODEL_TYPES),
    free: z.boolean().default(false),
    prices: prices.default([]),
    planned_prices: z.array(plannedPrices).max(50).optional(),
    routes: z.array(route).min(1, 'needs at least one route').max(50),
    limits: limits.default({}),
    details: details.default({}),
    /**
     * The treatment of the vendor's tools without a price: taken out if only offered, or always
     * refused.
     */
    unpriced_tools: z.enum(['take_out', 'refuse']).optional(),
    /** The order of routes: by priority and weight, or by what they cost. */
    routing: z.enum(['priority', 'cheapest']).optional(),
    /** Overrides the file's own, in an export. */
    source: entrySource.optional(),
    currency: currency.optional(),
  })
  .check(({ value, issues }) => {
    const refuse = (path: PropertyKey[], message: string) =>
      issues.push({ code: 'custom', input: value, path, message })
    if (value.free && value.prices.length > 0) {
      refuse(['prices'], 'a free model has no prices: remove the prices or "free"')
    }
    if (!value.free && value.prices.length === 0) {
      refuse(['prices'], 'a model needs a price or "free": true')
    }
    checkPrices(value.type, value.prices, ['prices'], refuse)
    checkRoutes(value, refuse)
    checkPlans(value, refuse)
    checkClock(value, refuse)
  })
  .transform(({ routes, unpriced_tools: tools, routing, details: stored, ...rest }) => {
    const { unpriced_tools: toolsBefore, routing: routingBefore, ...plain } = stored
    const kept = {
      ...plain,
      ...((tools ?? toolsBefore) === 'refuse' ? { unpriced_tools: 'refuse' as const } : {}),
      ...((routing ?? routingBefore) === 'cheapest' ? { routing: 'cheapest' as const } : {}),
    }
    const { planned_prices: plans, ...others } = rest
    const planned = plans ? { planned_prices: expandPlans(rest.prices, plans) } : {}
    return { ...others, ...planned, details: kept, ...splitRoutes(rest.id, routes) }
  })

type RouteEntry = z.output<typeof route>

/** Separates the routes to channels from those to other models. */
function splitRoutes(id: string, routes: readonly RouteEntry[]) {
  return {
    routes: routes.flatMap(({ channel, model: _, upstream_model = id, ...rest }) =>
      channel === undefined ? [] : [{ channel, upstream_model, ...rest }],
    ),
    fallbacks: routes.flatMap(({ model: id, priority }) => {
      return id === undefined ? [] : [{ model: id, priority }]
    }),
  }
}

function checkPlans(
  {
    type,
    free,
    planned_prices: plans = [],
  }: {
    type: ModelType
    free: boolean
    planned_prices?: z.output<typeof plannedPrices>[] | undefined
  },
  refuse: Refuse,
): void {
  if (free && plans.length > 0) {
    refuse(['planned_prices'], 'a free model has no prices: remove the prices or "free"')
  }
  const seen = new Set<number>()
  for (const [index, plan] of plans.entries()) {
    const moment = Date.parse(plan.effective_from)
    if (seen.has(moment)) {
      refuse(
        ['planned_prices', index, 'effective_from'],
        'another plan takes effect at the same time',
      )
    }
    seen.add(moment)
    checkPrices(type, plan.prices, ['planned_prices', index, 'prices'], refuse)
  }
}

function checkRoutes(
  { id, type, routes }: { id: string; type: ModelType; routes: readonly z.output<typeof route>[] },
  refuse: Refuse,
): void {
  const seen = new Set<string>()
  for (const [index, entry] of routes.entries()) {
    const { channel, model: other, upstream_model = id, costs = [] } = entry
    if (channel === undefined && other === undefined)
      refuse(['routes', index, 'channel'], 'required')
    if (other !== undefined) {
      checkFallback(id, entry, (path, message) => refuse(['routes', index, ...path], message))
    }
    checkPrices(type, costs, ['routes', index, 'costs'], refuse)
    const target = other === undefined ? `${channel} ${upstream_model}` : `model ${other}`
    if (seen.has(target))
      refuse(['routes', index], 'another route has the same channel and upstream_model')
    seen.add(target)
  }
}

function checkFallback(id: string, entry: RouteEntry, refuse: Refuse): void {
  if (entry.model === id) refuse(['model'], 'a model cannot stand in for itself')
  for (const name of ['channel', 'upstream_model', 'costs'] as const) {
    if (entry[name] !== undefined) refuse([name], 'cannot be combined with "model"')
  }
}

type Lists = readonly { readonly prices: readonly z.output<typeof price>[] }[]

const namesClock = (lists: Lists) =>
  lists.some(({ prices }) => prices.some(({ when = {} }) => Object.hasOwn(when, 'clock')))

function checkClock(
  value: {
    prices: z.output<typeof price>[]
    planned_prices?: z.output<typeof plannedPrices>[] | undefined
    routes: z.output<typeof route>[]
    details: z.output<typeof details>
  },
  refuse: Refuse,
): void {
  const costs = value.routes.map((one) => ({ prices: one.costs ?? [] }))
  const lists = [{ prices: value.prices }, ...(value.planned_prices ?? []), ...costs]
  if (value.details.peak_hours || !namesClock(lists)) return
  refuse(['details', 'peak_hours'], NEEDS_PEAK_HOURS)
}

const NEEDS_PEAK_HOURS = 'required if prices have the condition "clock"'

/** Returns the schema of one planned price of a model, with the same checks as in a file. */
export const planOf = (model: {
  readonly type: ModelType
  readonly details: Readonly<Record<string, unknown>>
}) =>
  plannedPrices.check(({ value, issues }) => {
    const refuse: Refuse = (path, message) =>
      issues.push({ code: 'custom', input: value, path, message })
    checkPrices(model.type, value.prices, ['prices'], refuse)
    if (namesClock([value]) && !model.details.peak_hours) {
      refuse(['prices'], `the model's details.peak_hours are ${NEEDS_PEAK_HOURS}`)
    }
  })

export type FilePlan = z.output<typeof plannedPrices>

const channel = z.strictObject({
  id: channelId,
  upstream: z.string().min(1),
  settings: z.record(z.string(), z.unknown()).default({}),
  /** If set, it pauses or resumes the channel; if absent, an operator's pause stays. */
  paused: z.boolean().optional(),
  /** The secret settings of an export, still encrypted. */
  sealed: z
    .strictObject({ version: atLeastOne, secrets: z.base64('must be the text of an export') })
    .optional(),
  /** Overrides the file's own, in an export. */
  source: entrySource.optional(),
})

export const catalogFile = z.strictObject({
  $schema: z.string().optional(),
  /** The name that owns this file's entries; defaults to the file's own name. */
  source: name(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must be 1 to 64 letters, digits, ".", "_" or "-"',
  ).optional(),
  /** Further names by which a vendor's file is added. */
  aliases: z.array(z.string().max(64)).max(20).optional(),
  /** The vendor's display name, and the page where its keys are created. */
  vendor: z
    .strictObject({
      name: z.string().min(1).max(100),
      key_page: z.url({ protocol: /^https$/ }).optional(),
    })
    .optional(),
  currency: currency.default('CNY'),
  channels: z.array(channel).max(1000).default([]),
  models: z.array(model).max(10_000).default([]),
  price_lists: z.array(priceList).max(1000).default([]),
  token_issuers: z.array(tokenIssuer).max(100).default([]),
})

export type CatalogFile = z.output<typeof catalogFile>
export type FileModel = CatalogFile['models'][number]
export type FileList = CatalogFile['price_lists'][number]
export type FileChannel = CatalogFile['channels'][number]
