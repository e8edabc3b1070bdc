/** Names of new entries that are in use: an addition must not replace what is there. */
import type { Mistake } from '../mistakes.ts'
import { isActive } from '../store.ts'
import type { EntryKind } from './change.ts'

interface Entry {
  readonly id: string
}

interface StoredEntry extends Entry {
  readonly status: string
}

/** Returns a mistake for each of the entries whose name an active one has. */
export function findTakenNames(
  file: string,
  kind: EntryKind,
  entries: readonly Entry[],
  stored: readonly StoredEntry[],
): Mistake[] {
  const taken = new Set(stored.filter(isActive).map(({ id }) => id))
  const noun = kind === 'channels' ? 'channel' : 'model'
  return entries.flatMap(({ id }, index) => {
    if (!taken.has(id)) return []
    const problem = `there is a ${noun} "${id}" already: choose another name, or change that one`
    return [{ file, path: `${kind}[${index}].id`, problem, isTaken: true as const }]
  })
}
