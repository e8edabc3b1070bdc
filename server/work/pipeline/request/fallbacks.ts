/**
 * Models that may serve a call in place of the one that it names: those of the model's routes, or
 * those of the caller's own list (`models`). Each serves at its own price.
 */

import { invalidField } from '../../../base/lib/errors.ts'
import type { CatalogSnapshot, Model } from '../../../money/catalog/catalog.ts'
import { parseRequestJson } from '../../../wire/dialects/request-json/parse.ts'
import { spliceJson } from '../../../wire/dialects/splice.ts'
import type { Body } from '../metering.ts'
import type { RequestJson } from './read-request.ts'

/** A model of the caller's list, with the field that names it. */
export interface ListedModel {
  readonly id: string
  readonly field: string
}

export interface ModelList {
  /** The model to try first. */
  readonly model: string
  readonly others: readonly ListedModel[]
}

const LISTED_MAX = 8

/**
 * Returns the models that a request lists, or undefined if it lists none or if its model is itself
 * a router between vendors' models, which are then part of its prices. Throws 400.
 */
export function readModelList(value: Body, snapshot: CatalogSnapshot): ModelList | undefined {
  const { model, models } = value
  if (!Array.isArray(models) || (model !== undefined && typeof model !== 'string')) return undefined
  if (models.length > LISTED_MAX) throw invalidField('models', `at most ${LISTED_MAX} models`)
  const listed = models.map((id: unknown, index): ListedModel => {
    if (typeof id === 'string' && id !== '') return { id, field: `models[${index}]` }
    throw invalidField(`models[${index}]`, 'the id of a model')
  })
  const first = model ?? listed[0]?.id
  if (first === undefined) throw invalidField('models', 'names no model')
  if (isRouter(snapshot.models.get(first))) return undefined
  const seen = new Set([first])
  const others = listed.filter(({ id }) => !seen.has(id) && seen.add(id))
  return { model: first, others }
}

function isRouter(model: Model | undefined): boolean {
  return model?.prices.some(({ when = {} }) => Object.hasOwn(when, 'model')) ?? false
}

/** Returns the body that is sent to the first model: without the list. */
export function dropModelList(value: Body, { model }: ModelList): Body {
  const { models: _models, route: _route, ...rest } = value
  return { ...rest, model }
}

/** Returns the request for the first model: without the list. */
export function withoutModelList(json: RequestJson, { model }: ModelList): RequestJson {
  const set: Record<string, string> = {}
  if (json.value.model === undefined) set.model = JSON.stringify(model)
  const body = spliceJson(json.body, json.fields, { set, remove: ['models', 'route'] })
  const parsed = parseRequestJson(body)
  if (!parsed.ok) throw new Error(`a spliced request is not valid: ${parsed.message}`)
  return { body, value: parsed.value, fields: parsed.fields }
}
