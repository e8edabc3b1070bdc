/**
 * Brings the explicit prices of all lists up to date with their rules and with what these refer to:
 * parents, base prices, planned changes, costs and routes. It runs in the transaction of each
 * change of the catalog, so that a source and the prices derived from it change at the same moment.
 */
import type { TransactionSql } from 'postgres'
import { findGivenAway, findPriceProblems, findUnpricedCosts } from '../compare-costs.ts'
import { type CompiledList, type ListVersion, versionsOf } from '../list.ts'
import {
  isActive,
  listPlanned,
  type ModelRow,
  type PlannedRow,
  readMoment,
  selectModels,
} from '../store.ts'
import { fingerprintBase, fingerprintList } from './fingerprint.ts'
import {
  type CompiledRow,
  type NewVersion,
  saveCompiled,
  saveFingerprints,
  saveVersions,
  selectLists,
  withdrawVersions,
} from './list-store.ts'
import {
  baseOf,
  type Desired,
  type Effective,
  effectiveOf,
  isSamePrice,
  workOut,
} from './work-out.ts'

export interface Derivation {
  /** Lists whose prices changed. */
  readonly changed: readonly string[]
  /** Prices below cost among those that changed. */
  readonly warnings: readonly string[]
}

/** A rule that yields no price. */
export interface ListProblem {
  readonly list: string
  readonly model: string
  readonly problem: string
}

/** Thrown to prevent a change; the caller adds the position of the mistake. */
export class UnderivableLists extends Error {
  readonly problems: readonly ListProblem[]

  constructor(problems: readonly ListProblem[]) {
    super(problems.map(({ list, model, problem }) => `${list}: ${model}: ${problem}`).join('\n'))
    this.name = 'UnderivableLists'
    this.problems = problems
  }
}

interface Sources {
  readonly models: readonly ModelRow[]
  readonly planned: ReadonlyMap<string, readonly PlannedRow[]>
  readonly atMs: number
}

/** Throws UnderivableLists if a rule has no result, for example `of: cost` without a cost. */
export async function deriveLists(sql: TransactionSql): Promise<Derivation> {
  const lists = (await selectLists(sql)).filter(isActive)
  if (lists.length === 0) return { changed: [], warnings: [] }
  const models = (await selectModels(sql)).filter(isActive)
  const rows = await listPlanned(sql)
  const planned = Map.groupBy(rows, (row) => row.model_id)
  const { at } = await readMoment(sql)
  // By the transaction's clock, prices that it has written for now still count as planned.
  const later = rows.filter((row) => row.effective_from > at)
  const fingerprints = fingerprintsOf(lists, fingerprintBase(models, later))
  const sources: Sources = { models, planned, atMs: at.getTime() }
  const timelines: Timelines = new Map()
  const changed: string[] = []
  const warnings: string[] = []
  const isKnown = ({ id, fingerprint }: CompiledRow) => fingerprint === fingerprints.get(id)
  for (const level of inLevels(lists)) {
    for (const list of level.filter(isKnown)) {
      timelines.set(
        list.id,
        once(() => timelineOf(list, JSON.parse(list.compiled), sources, timelines)),
      )
    }
    const changes = level
      .filter((list) => !isKnown(list))
      .map((list) => compareList(list, sources, timelines))
    const problems = changes.flatMap((one) => one.problems)
    if (problems.length > 0) throw new UnderivableLists(problems)
    await writeVersions(sql, changes)
    for (const change of changes) {
      const { compiled, ...row } = compile(change, sources.atMs)
      timelines.set(
        change.list.id,
        once(() => timelineOf(change.list, compiled, sources, timelines)),
      )
      if (!change.isChanged) continue
      changed.push(change.list.id)
      warnings.push(...warningsOf(change))
      await saveCompiled(sql, { ...row, compiled: JSON.stringify(compiled) })
    }
  }
  await saveFingerprints(
    sql,
    lists.filter((list) => !isKnown(list)).map(({ id }) => [id, fingerprints.get(id) ?? '']),
  )
  return { changed, warnings }
}

/** The prices of each list by model, computed if another list refers to it. */
type Timelines = Map<string, () => ReadonlyMap<string, readonly Effective[]>>

function once<Value>(make: () => Value): () => Value {
  let result: { readonly value: Value } | undefined
  return () => {
    result ??= { value: make() }
    return result.value
  }
}

function fingerprintsOf(lists: readonly CompiledRow[], base: string): Map<string, string> {
  const fingerprints = new Map<string, string>()
  for (const list of inLevels(lists).flat()) {
    const parent = list.parent === null ? '' : (fingerprints.get(list.parent) ?? 'retired')
    fingerprints.set(list.id, fingerprintList(list, base, parent))
  }
  return fingerprints
}

/** Divides the lists into levels: parents before the lists that refer to them. */
function inLevels(lists: readonly CompiledRow[]): CompiledRow[][] {
  const levels: CompiledRow[][] = []
  const done = new Set<string>()
  let rest = [...lists]
  while (rest.length > 0) {
    const active = new Set(rest.map(({ id }) => id))
    const level = rest.filter(({ parent }) => parent === null || !active.has(parent))
    if (level.length === 0) throw new Error('the parents of price lists form a loop')
    levels.push(level)
    for (const { id } of level) done.add(id)
    rest = rest.filter(({ id }) => !done.has(id))
  }
  return levels
}

interface ModelChange {
  readonly model: ModelRow
  /** The versions after the change: those that are kept, and new ones once they are written. */
  readonly versions: ListVersion[]
  readonly added: readonly Desired[]
  readonly withdrawn: readonly string[]
}

interface ListChange {
  readonly list: CompiledRow
  readonly models: readonly ModelChange[]
  readonly problems: readonly ListProblem[]
  readonly isChanged: boolean
}

function compareList(list: CompiledRow, sources: Sources, timelines: Timelines): ListChange {
  const { models, atMs } = sources
  const stored: CompiledList = JSON.parse(list.compiled)
  const parentOf = parentsOf(list, sources, timelines)
  const problems: ListProblem[] = []
  const changes: ModelChange[] = []
  for (const model of models) {
    const parent = parentOf(model)
    const worked = workOut(list, model, parent, atMs)
    if ('problem' in worked) {
      problems.push({ list: list.id, model: model.id, problem: worked.problem })
      continue
    }
    const kept = versionsOf(stored, model.id)
    changes.push({ model, ...compareVersions(kept, worked.desired, atMs) })
  }
  const names = new Set(models.map(({ id }) => id))
  const isChanged =
    changes.some(({ added, withdrawn }) => added.length + withdrawn.length > 0) ||
    Object.keys(stored).some((id) => !names.has(id))
  return { list, models: changes, problems, isChanged }
}

/** Returns a function with the prices of a model that a list refers to. */
function parentsOf(
  { parent, currency }: CompiledRow,
  { planned, atMs }: Sources,
  timelines: Timelines,
): (model: ModelRow) => readonly Effective[] {
  const parents = parent === null ? undefined : timelines.get(parent)?.()
  return (model) =>
    parents?.get(model.id) ?? baseOf(model, planned.get(model.id) ?? [], currency, atMs)
}

/** Returns what customers of a list pay, from its versions and what it inherits. */
function timelineOf(
  list: CompiledRow,
  compiled: CompiledList,
  sources: Sources,
  timelines: Timelines,
): ReadonlyMap<string, readonly Effective[]> {
  const parentOf = parentsOf(list, sources, timelines)
  return new Map(
    sources.models.map((model) => {
      const versions = versionsOf(compiled, model.id)
      return [model.id, effectiveOf(list.id, versions, parentOf(model), sources.atMs)]
    }),
  )
}

/** Returns what to keep, to add and to withdraw of the versions of one model. */
function compareVersions(
  stored: readonly ListVersion[],
  desired: readonly Desired[],
  atMs: number,
): Pick<ModelChange, 'versions' | 'added' | 'withdrawn'> {
  const current = stored.findLast(({ from }) => from <= atMs)
  const later = stored.filter(({ from }) => from > atMs)
  const versions: ListVersion[] = []
  const added: Desired[] = []
  for (const [index, one] of desired.entries()) {
    // Readers treat the first version as in effect, so a planned version needs one before it.
    const isSilent = desired.length === 1 && !current && 'inherit' in one.origin
    if (isSilent) continue
    const known =
      index === 0
        ? current
        : later.find(({ from, ...rest }) => from === one.from && isSamePrice(rest, one))
    if (known && isSamePrice(known, one)) versions.push(known)
    else added.push(one)
  }
  const kept = new Set(versions.map(({ version }) => version))
  const withdrawn = later.filter(({ version }) => !kept.has(version)).map(({ version }) => version)
  return { versions, added, withdrawn }
}

async function writeVersions(sql: TransactionSql, changes: readonly ListChange[]): Promise<void> {
  const parts = changes.flatMap(({ list, models }) => models.map((one) => ({ list, ...one })))
  const withdrawn = parts.flatMap((one) => one.withdrawn)
  if (withdrawn.length > 0) await withdrawVersions(sql, withdrawn)
  const added = parts.flatMap(({ list, model, versions, added: desired }) => {
    return desired.map((one) => {
      const row: NewVersion = { ...one, list: list.id, currency: list.currency, model: model.id }
      return { row, desired: one, versions }
    })
  })
  if (added.length === 0) return
  const numbers = await saveVersions(
    sql,
    added.map(({ row }) => row),
  )
  for (const [index, { desired, versions }] of added.entries()) {
    versions.push({ version: numbers[index] ?? '', ...desired })
    versions.sort((a, b) => a.from - b.from)
  }
}

function compile({ list, models }: ListChange, atMs: number) {
  const found = models.filter(({ versions }) => versions.length > 0)
  const compiled: CompiledList = Object.fromEntries(
    found.map(({ model, versions }) => [model.id, versions]),
  )
  const moments = found.flatMap(({ versions }) => versions.map(({ from }) => from))
  return {
    id: list.id,
    compiled,
    moments: [...new Set(moments)].filter((one) => one > atMs),
  }
}

const LISTED_MAX = 5

/** Describes new prices below the cost of a route, and those that omit a unit. */
function warningsOf({ list, models }: ListChange): string[] {
  const below: string[] = []
  const givenAway: string[] = []
  const unsold: string[] = []
  for (const { model, versions, added } of models) {
    const { id, type, routes } = model
    const isNew = (one: ListVersion) => added.some(({ from }) => from === one.from)
    const sold = versions.filter(isNew).flatMap(({ prices }) => (prices ? [prices] : []))
    const found = sold
      .flatMap((prices) =>
        findPriceProblems({ type, free: false, currency: list.currency, prices, routes }),
      )
      .find(({ problem }) => problem === 'below_cost')
    if (found) below.push(`${id} (${found.unit}, channel ${found.channel})`)
    const [unit] = sold.flatMap((prices) => findUnpricedCosts(prices, routes))
    if (unit) unsold.push(`${id} (${unit})`)
    const [freeToken] = sold.flatMap((prices) => findGivenAway(type, prices))
    if (freeToken && freeToken !== unit) givenAway.push(`${id} (${freeToken})`)
  }
  return [
    ...warn(`price list ${list.id}: below the upstream cost`, below),
    ...warn(`price list ${list.id}: no price, so such tokens cost nothing`, givenAway),
    ...warn(`price list ${list.id}: no price, although a route has costs`, unsold),
  ]
}

function warn(problem: string, models: readonly string[]): string[] {
  if (models.length === 0) return []
  const shown = models.slice(0, LISTED_MAX).join(', ')
  const more = models.length > LISTED_MAX ? ` and ${models.length - LISTED_MAX} more` : ''
  return [`${problem}: ${shown}${more}`]
}
