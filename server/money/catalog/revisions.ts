/**
 * Revisions of entries, by which a change finds out that another one came first. Each follows from
 * what operators decide, and from prices that have begun meanwhile, but not from what is derived.
 */
import { hash } from 'node:crypto'
import { OperatorError } from '../../base/lib/operator-error.ts'
import { definitionOf } from './definition.ts'
import type { ListDefinition } from './list.ts'

/** The entry is not as its editor has read it. */
export class ChangedEntry extends OperatorError {}

type DefinedModel = Parameters<typeof definitionOf>[0]

export function revisionOfModel(model: DefinedModel): string {
  // Summaries of models without prices have an empty list of them.
  return digest(definitionOf({ ...model, prices: model.prices ?? [] }, []))
}

/** Of a list that is active; of none there is one as well, for who makes the first. */
export function revisionOfList(definition: ListDefinition | undefined): string {
  return digest(definition ?? null)
}

export function revisionOfChannel({ version }: { readonly version: number }): string {
  return version.toString()
}

/** Throws ChangedEntry unless the entry has the expected revision. Undefined expects nothing. */
export function expectRevision(expected: string | undefined, now: string | undefined): void {
  if (expected === undefined || expected === now) return
  throw new ChangedEntry(
    'somebody has changed this since it was opened: nothing was saved; open it again',
  )
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64url')
}
