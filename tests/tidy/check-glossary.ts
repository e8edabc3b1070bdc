/** One thing, one word: words that the glossary of ARCHITECTURE.md replaced do not come back. */
import { lineOf, type SourceFile } from './read-tree.ts'
import { BANNED_WORDS } from './rules.ts'

interface TextFile {
  readonly path: string
  readonly text: string
}

/** Parts of names are words: `lookAt`, `LOOK_MS` and "look at" are alike. */
function splitNames(line: string): string {
  return line
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
}

/** Returns each line that has a banned word, with the word to use. */
export function checkGlossary(files: readonly TextFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const banned = BANNED_WORDS.filter(({ place, except }) => {
      return place.test(path) && !except?.test(path)
    })
    return text.split('\n').flatMap((line, index) => {
      const words = splitNames(line)
      const found = banned.filter(({ pattern }) => pattern.test(words))
      return found.map(({ pattern, use }) => {
        return `${path}:${index + 1} says "${pattern.exec(words)?.[0]}": write ${use}`
      })
    })
  })
}

/** A participle says how a value came about, not what it is. */
const PARTICIPLE = /(?:\b(?:const|let) |[{(,]\s*)(asked|given|made|those|wanted)\b\s*[,)}:=]/g

/** Returns the variables, parameters and members of server/ and bin/ named by one alone. */
export function checkParticiples(sources: readonly SourceFile[]): string[] {
  const checked = sources.filter(({ path }) => /^(?:server|bin)\//.test(path))
  return checked.flatMap(({ path, text, masked }) => {
    return [...masked.code.matchAll(PARTICIPLE)].map(({ index, 1: name }) => {
      return `${path}:${lineOf(text, index)} names a value "${name}"`
    })
  })
}
