/** Documentation that leads somewhere and stays short where it should. */
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { slugOf } from '../../scripts/site/slug.ts'
import { lineOf, ROOT, readText } from './read-tree.ts'
import { FOLDER_README_LINES_MAX } from './rules.ts'

const LINK = /\]\(([^)\s]+)\)/g
const FENCE = /```[\s\S]*?```|`[^`\n]*`/g

/** Every relative link of every page, its heading included. */
export function checkLinks(pages: readonly string[]): string[] {
  return pages.flatMap((page) => {
    const text = readText(page).replace(FENCE, (code) => code.replace(/[^\n]/g, ' '))
    return [...text.matchAll(LINK)].flatMap(({ 1: link = '', index }) => {
      const problem = /^[a-z]+:/.test(link) ? undefined : judgeLink(page, link)
      return problem ? [`${page}:${lineOf(text, index)} links to ${link}: ${problem}`] : []
    })
  })
}

function judgeLink(page: string, link: string): string | undefined {
  const [file = '', heading] = link.split('#')
  const target = file === '' ? page : posix.join(posix.dirname(page), file)
  if (!existsSync(join(ROOT, target))) return 'there is no such file'
  if (heading === undefined || !target.endsWith('.md')) return undefined
  return headingsOf(target).has(heading) ? undefined : 'that page has no such heading'
}

/** Headings as the anchors that code hosts make of them. */
export function headingsOf(page: string): Set<string> {
  const headings = readText(page).matchAll(/^#{1,6} +(.+)$/gm)
  return new Set([...headings].map(({ 1: title = '' }) => slugOf(title)))
}

/** A folder's README says what it is, what it may import and how to add to it: no more. */
export function checkFolderReadmes(pages: readonly string[]): string[] {
  return pages
    .filter(
      (page) => page.includes('/') && page.endsWith('/README.md') && !page.startsWith('docs/'),
    )
    .map((page) => ({ page, lines: readText(page).trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > FOLDER_README_LINES_MAX)
    .map(({ page, lines }) => `${page} has ${lines} lines, over ${FOLDER_README_LINES_MAX}`)
}

const DECISION = /^docs\/decisions\/\d{4}-\d{2}-\d{2}-[a-z\d-]+\.md$/

/** A decision is dated in its name and says whether it still holds. */
export function checkDecisions(pages: readonly string[]): string[] {
  return pages
    .filter((page) => page.startsWith('docs/decisions/') && !page.endsWith('/README.md'))
    .flatMap((page) => {
      if (!DECISION.test(page)) return [`${page} is not named by date and subject`]
      const status = /^Status: (?:accepted|superseded by \S+)$/m.test(readText(page))
      return status ? [] : [`${page} has no line "Status: accepted" or "superseded by …"`]
    })
}
