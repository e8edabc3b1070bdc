/**
 * Revisions of entries, by which a change detects that another one came first. A revision depends
 * on what operators decide, and on prices that have taken effect meanwhile, but not on derived
 * values.
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
  // Summaries of models without prices have an empty list of prices.
  const priced = { ...model, prices: model.prices ?? [] }
  // These are included because a save withdraws plans that it omits, and puts a retired model back
  // on sale.
  return digest([model.status, definitionOf(priced, planned.map(pricePlanOf))])
}

/** The revision of an active list. There is also one for no list, for whoever creates the first. */
export function revisionOfList(definition: ListDefinition | undefined): string {
  return digest(definition ?? null)
}

/**
 * The version of an active channel, so that a save does not bring back one that has since been
 * retired.
 */
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
