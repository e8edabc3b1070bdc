/**
 * Makes a statement of a template: each substitution becomes what the parser takes in its place, so
 * that nothing has to be known of the code that makes it.
 */
import { parseSync } from 'libpg-query'

/** A value, nothing, a list, a query, what follows its columns, a name, a comparison. */
const FILLINGS = [
  '$1',
  '',
  '($1)',
  'select 1',
  'from somewhere where true',
  'somewhere',
  '=',
  'somewhere = 1',
] as const

/** What a part of a statement may stand in; `%` is its place. */
const AROUND = [
  '%',
  'select %',
  'select 1 %',
  'select 1 from somewhere %',
  'select 1 from somewhere where true %',
  'with % select 1',
  'select 1 from %',
  'insert into somewhere %',
] as const

const READS = /\b(?:from|join|into|update)\b/i

/** Returns the tree; undefined for a part that reads no table. Rejects what no parser takes. */
export function fillTemplate(pieces: readonly string[]): unknown {
  let furthest = new Error('no statement')
  const parts = READS.test(pieces.join(' ')) ? AROUND : []
  for (const around of parts) {
    const [before = '', after = ''] = around.split('%')
    const found = fill([`${before}${pieces[0]}`, ...pieces.slice(1)], after)
    if (!(found instanceof Error)) return found
    if (around === '%') furthest = found
  }
  if (parts.length > 0) throw furthest
  return undefined
}

/** Chooses for one substitution after the other what lets the parser read furthest. */
function fill(pieces: readonly string[], after: string): unknown {
  const chosen: string[] = pieces.slice(1).map(() => FILLINGS[0])
  const write = () => pieces.map((piece, at) => `${piece}${chosen[at] ?? after}`).join('')
  for (const index of chosen.keys()) {
    let best: { readonly filling: string; readonly read: number } | undefined
    for (const one of FILLINGS) {
      const filling = one.replace('$1', () => `$${index + 1}`)
      chosen[index] = filling
      const text = write()
      const rest = pieces.slice(index + 1).join('').length
      const error = errorOf(text)
      const read = error ? error.position - (text.length - rest) : text.length
      if (!best || read > best.read) best = { filling, read }
      if (!error) break
    }
    chosen[index] = best?.filling ?? ''
  }
  const text = write()
  const error = errorOf(text)
  return error ? new Error(`${error.message} in\n${text}`) : parseSync(text)
}

function errorOf(text: string) {
  try {
    parseSync(text)
    return undefined
  } catch (error) {
    const { message, sqlDetails } = error as Error & { sqlDetails?: { cursorPosition?: number } }
    return { message, position: sqlDetails?.cursorPosition ?? 0 }
  }
}
