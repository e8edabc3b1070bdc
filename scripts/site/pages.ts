/** The pages of the site: which files, at which addresses, in which order. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')

/** Folders of docs/ whose pages are in the site. */
const FOLDERS = ['guides', 'decisions', 'protocols']
/** The page whose sections are the contents of the site, at /docs/guides. */
const CONTENTS = 'docs/README.md'

/** Returns the address below /docs/ of each page, by its file. */
export function listPages(): Map<string, string> {
  const inFolders = FOLDERS.flatMap((folder) => listMarkdown(`docs/${folder}`))
  return new Map([...listMarkdown('.'), ...listMarkdown('docs'), ...inFolders].map(addressOf))
}

function addressOf(source: string): [source: string, address: string] {
  if (source === CONTENTS) return [source, 'guides']
  const address = source
    .replace(/^docs\//, '')
    .replace(/\/README\.md$/, '')
    .replace(/\.md$/, '')
    .replaceAll('.', '-')
  return [source, address.toLowerCase()]
}

function listMarkdown(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => posix.join(folder, name))
}

export interface NavigationGroup {
  readonly title: string
  readonly pages: readonly { readonly address: string; readonly title: string }[]
}

/** Reads the contents of the site from the lists of its first page. */
export function readNavigation(pages: ReadonlyMap<string, string>): NavigationGroup[] {
  const text = readFileSync(join(ROOT, CONTENTS), 'utf8')
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.slice(0, section.indexOf('\n')),
      pages: [...section.matchAll(/\[([^\]]+)\]\(([^)#]+)\)/g)].flatMap(
        ({ 1: title = '', 2: link = '' }) => {
          const address = pages.get(posix.join('docs', link))
          return address === undefined ? [] : [{ address, title }]
        },
      ),
    }))
}

/** What a link of a page leads to. */
export type Target =
  | { readonly kind: 'page'; readonly href: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'elsewhere'; readonly href: string }
  /** A file of the repository that the site does not have. */
  | { readonly kind: 'source' }

/** Finds what a link on the page of a file leads to. */
export function resolveLink(
  pages: ReadonlyMap<string, string>,
  source: string,
  link: string,
): Target {
  if (/^[a-z]+:/.test(link)) return { kind: 'elsewhere', href: link }
  const [file = '', heading] = link.split('#')
  const fragment = heading === undefined ? '' : `#${heading}`
  if (file === '') return { kind: 'page', href: fragment }
  const path = posix.join(posix.dirname(source), file).replace(/\/$/, '')
  const address = pages.get(path) ?? pages.get(`${path}/README.md`)
  if (address !== undefined) return { kind: 'page', href: `/docs/${address}${fragment}` }
  const isPicture = /\.(?:svg|png|jpg|webp)$/.test(path)
  return isPicture && existsSync(join(ROOT, path)) ? { kind: 'file', path } : { kind: 'source' }
}
