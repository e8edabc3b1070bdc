/** Vendors: what can be added, the review of a price book, and adding what was chosen. */

import { GatewayError } from '../../../../base/lib/errors.ts'
import { OperatorError } from '../../../../base/lib/operator-error.ts'
import {
  applyVendor,
  type ReviewedModel,
  reviewVendor,
} from '../../../../money/catalog/apply/vendor-changes.ts'
import { findVendor, listVendors, type Vendor } from '../../../../money/catalog/apply/vendors.ts'
import { listChannelSummaries } from '../../../../money/catalog/describe.ts'
import { type Environment, variableNameOf } from '../../../../money/catalog/environment.ts'
import type { HandlersOf } from '../../handler.ts'
import { withOperatorErrors } from '../../operator-failure.ts'
import { editOptions } from '../edit-options.ts'
import type { operatorVendorsContract } from './contract.ts'

type Existing = ReadonlySet<string>

function showVendor({ name, content }: Vendor, existing: Existing, environment: Environment) {
  const { vendor, currency, channels, models } = content
  return {
    id: name,
    name: vendor?.name ?? name,
    key_page: vendor?.key_page ?? null,
    currency,
    types: [...new Set(models.map(({ type }) => type))],
    models: models.length,
    channels: channels.map(({ id, upstream, settings }) => ({
      id,
      upstream,
      settings,
      variables: Object.entries(settings).flatMap(([setting, value]) => {
        const variable = variableNameOf(value)
        if (variable === undefined) return []
        return [{ setting, variable, is_set: Boolean(environment[variable]) }]
      }),
      exists: existing.has(id),
    })),
  }
}

function showReview({ model, current, change, isOwn, differences }: ReviewedModel, book: Book) {
  const { id, type, prices, routes, details } = model
  return {
    id,
    type,
    change,
    is_own: isOwn,
    book: { currency: book.currency, prices },
    current: current
      ? { currency: current.currency ?? book.currency, prices: current.prices ?? [] }
      : null,
    differences,
    missing_channels: [
      ...new Set(routes.map(({ channel }) => channel).filter((one) => !book.channels.has(one))),
    ],
    price_source: details.price_source ?? null,
    price_date: details.price_date ?? null,
  }
}

interface Book {
  readonly currency: string
  readonly channels: Existing
}

async function readVendor(id: string): Promise<Vendor> {
  try {
    return await findVendor(id)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new GatewayError('not_found', { message: error.message, cause: error })
  }
}

export const operatorVendorsHandlers: HandlersOf<typeof operatorVendorsContract> = {
  async 'GET /operator/vendors'(_input, { sql }) {
    const existing = new Set((await listChannelSummaries(sql, false)).map(({ id }) => id))
    const vendors = await listVendors()
    return { data: vendors.map((vendor) => showVendor(vendor, existing, process.env)) }
  },

  async 'GET /operator/vendors/:vendor_id'({ params }, services) {
    const vendor = await readVendor(params.vendor_id)
    const review = await withOperatorErrors(reviewVendor(editOptions(services), vendor))
    const { channels, models, dropped } = review
    const book = { currency: vendor.content.currency, channels }
    return {
      ...showVendor(vendor, channels, process.env),
      review: models.map((one) => showReview(one, book)),
      dropped,
    }
  },

  async 'POST /operator/vendors/:vendor_id'({ params, body, note }, services) {
    const vendor = await readVendor(params.vendor_id)
    const diff = await withOperatorErrors(applyVendor(editOptions(services), vendor, body))
    note({
      changes: diff.changes.map(({ kind, id, change }) => `${change} ${kind} ${id}`),
      differences: diff.changes.flatMap(({ id, differences = [] }) =>
        differences.map((one) => ({ ...one, path: `${id}: ${one.path}` })),
      ),
    })
    await services.catalog.refresh()
    return diff
  },
}
