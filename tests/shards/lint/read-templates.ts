/** Takes the statements out of the tagged templates of TypeScript. */
import type { MaskedSource } from '../../tidy/mask-source.ts'

export interface Template {
  /** The function or constant at the top of the file that it stands in. */
  readonly owner: string
  /** The text before, between and after the substitutions. */
  readonly pieces: readonly string[]
}

const TAG = /\b(?:sql|transaction|tx)(?:<[^`;]*>)?$/

/** Returns the templates with an SQL tag, those within substitutions of others too. */
export function readTemplates(source: string, { code, strings }: MaskedSource): Template[] {
  return strings.flatMap(({ start, opening }) => {
    if (opening !== '`' || !TAG.test(code.slice(Math.max(0, start - 400), start))) return []
    return [{ owner: ownerOf(code, start), pieces: piecesOf(source, start).pieces }]
  })
}

function piecesOf(source: string, start: number) {
  const pieces = ['']
  let at = start + 1
  while (at < source.length && source.charAt(at) !== '`') {
    if (source.startsWith('${', at)) {
      pieces.push('')
      at = skipCode(source, at + 2)
    } else {
      const length = source.charAt(at) === '\\' ? 2 : 1
      pieces[pieces.length - 1] += source.slice(at, at + length)
      at += length
    }
  }
  return { pieces, end: at }
}

/** Returns where a substitution ends, behind its brace. */
function skipCode(source: string, from: number): number {
  let depth = 0
  for (let at = from; at < source.length; at++) {
    const char = source.charAt(at)
    if (char === '`') at = piecesOf(source, at).end
    else if (char === "'" || char === '"') at = source.indexOf(char, at + 1)
    else if (char === '{') depth++
    else if (char === '}' && depth-- === 0) return at + 1
  }
  return source.length
}

function ownerOf(code: string, at: number): string {
  const opening = /^(?:export )?(?:async )?(?:function\*?|const|class) (\w+)/gm
  return [...code.slice(0, at).matchAll(opening)].at(-1)?.[1] ?? ''
}
