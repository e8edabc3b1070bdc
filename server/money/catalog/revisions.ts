/**
 * Revisions of entries, by which a change finds out that another one came first. Each follows from
 * what operators decide, and from prices that have begun meanwhile, but not from what is derived.
 */
import { hash } from 'node:crypto'
import { OperatorError } from '../../base/lib/operator-error.ts'
import { definitionOf, pricePlanOf } from './definition.ts'
import type { ListDefinition } from './list.ts'
import type { ChannelRow, ModelRow, PlannedRow } from './store.ts'

/** The entry is not as its editor has read it. */
export class ChangedEntry extends OperatorError {}

type DefinedModel = Parameters<typeof definitionOf>[0] & Pick<ModelRow, 'status'>

export function revisionOfModel(model: DefinedModel, planned: readonly PlannedRow[]): string {
  // Summaries of models without prices have an empty list of them.
  const priced = { ...model, prices: model.prices ?? [] }
  // A save withdraws plans that it leaves out, and sells a retired model again.
  return digest([model.status, definitionOf(priced, planned.map(pricePlanOf))])
}

/** Of a list that is active; of none there is one as well, for who makes the first. */
export function revisionOfList(definition: ListDefinition | undefined): string {
  return digest(definition ?? null)
}

/** The version of an active one, so that a save does not bring back what was retired since. */
export function revisionOfChannel({
  version,
  status,
}: Pick<ChannelRow, 'version' | 'status'>): string {
  return status === 'active' ? version.toString() : `${version}-${status}`
}

/** Throws ChangedEntry unless the entry has the expected revision. Undefined expects nothing. */
export function expectRevision(expected: string | undefined, now: string | undefined): void {
  if (expected === undefined || expected === now) return
  throw new ChangedEntry('this has changed since it was opened: open it again')
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64url')
}
