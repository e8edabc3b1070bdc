/** The commands of a guide: those of its shell blocks, and those that its tables and steps give. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')

export interface Command {
  /** The page and the line, as in `docs/guides/operate.md:108`. */
  readonly place: string
  readonly text: string
}

const FENCE = /^\s*```(\S*)/
const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'shell', 'console'])
/** A row of a table, or a step of a list. */
const GIVES = /^(?:\||\d+\. )/
const PROGRAM = /`((?:npx )?tributary [a-z][^`]*)`/g
/** The five fields before a command of cron. */
const CRON = /^(?:[\d*/]+ +){5}/

/** Returns the commands of a page that a reader would run, in their order. */
export function readCommands(page: string): Command[] {
  const found: Command[] = []
  let fence: string | undefined
  let begun = ''
  for (const [index, line] of readLines(page).entries()) {
    const place = `${page}:${index + 1}`
    const opened = FENCE.exec(line)
    if (opened) fence = fence === undefined ? (opened[1] ?? '') : undefined
    else if (fence === undefined && GIVES.test(line)) {
      found.push(...[...line.matchAll(PROGRAM)].map(({ 1: text = '' }) => ({ place, text })))
    } else if (fence !== undefined && SHELLS.has(fence)) {
      begun += line
      if (line.endsWith('\\')) begun += '\n'
      else {
        const text = begun.replace(CRON, '').trim()
        if (text !== '' && !text.startsWith('#')) found.push({ place, text })
        begun = ''
      }
    }
  }
  return found
}

/** Returns every mention of a command of the gateway's in a page's running text and its blocks. */
export function readMentions(page: string): Command[] {
  return readLines(page).flatMap((line, index) =>
    [...line.matchAll(/(?<=^|`|npx |&& |\$\()tributary ([a-z][a-z-]*(?: [^`|>#()]*)?)/g)].map(
      ({ 0: text }) => ({ place: `${page}:${index + 1}`, text }),
    ),
  )
}

/** Returns the first JSON block of a page that has `word` in it. */
export function readJsonBlock(page: string, word: string): string {
  const blocks = readLines(page)
    .join('\n')
    .matchAll(/^```json\n([\s\S]*?)^```/gm)
  for (const { 1: text = '' } of blocks) if (text.includes(word)) return text
  throw new Error(`${page} has no block with ${word}`)
}

function readLines(page: string): string[] {
  return readFileSync(join(ROOT, page), 'utf8').split('\n')
}
