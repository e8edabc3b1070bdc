/**
 * Builds the site of the documentation into a folder: a part of HTML for each page, which the
 * gateway frames as it frames the reference, pictures, and what the search reads. The same sources
 * make the same bytes.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { listPages, ROOT, readNavigation, resolveLink } from './pages.ts'
import { renderMarkdown } from './render.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('node scripts/site/main.ts FOLDER')

const SEARCH_ENGINE = join(ROOT, 'node_modules', 'minisearch')

function write(name: string, content: string | Buffer): void {
  const path = join(String(folder), name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

/** Writes a file that never changes: its name has the hash of its content. Returns its address. */
function writeAsset(name: string, content: string | Buffer): string {
  const bytes = Buffer.from(content)
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 10)
  const suffix = extname(name)
  const path = `assets/${basename(name, suffix)}-${hash}${suffix}`
  write(path, bytes)
  if (suffix === '.js' || suffix === '.json' || suffix === '.svg') {
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
    write(`${path}.br`, brotliCompressSync(bytes, { params }))
    write(`${path}.gz`, gzipSync(bytes))
  }
  return `/docs/${path}`
}

const pages = listPages()
const addPicture = (path: string) => writeAsset(path, readFileSync(join(ROOT, path)))
const rendered = [...pages].map(([source, address]) => {
  const links = { resolve: (link: string) => resolveLink(pages, source, link), addPicture }
  return { address, ...renderMarkdown(readFileSync(join(ROOT, source), 'utf8'), links) }
})
for (const { address, html } of rendered) write(`pages/${address}.html`, html)

const sections = rendered.flatMap(({ address, title, sections }) =>
  sections.map(({ id, heading, text }) => ({
    at: `/docs/${address}${id === '' ? '' : `#${id}`}`,
    page: title,
    heading,
    text,
  })),
)
const licence = readFileSync(join(SEARCH_ENGINE, 'LICENSE.txt'), 'utf8')
const program = readFileSync(join(SEARCH_ENGINE, 'dist', 'es', 'index.js'), 'utf8')
// A comment at its end names a map that is not part of the site.
const engine = `/*!\n${licence}*/\n${program.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')}`
const site = {
  sections: writeAsset('search.json', JSON.stringify(sections)),
  engine: writeAsset('minisearch.js', engine),
  navigation: readNavigation(pages),
  pages: Object.fromEntries(
    rendered.map(({ address, title, headings }) => [address, { title, headings }]),
  ),
}
write('site.json', `${JSON.stringify(site)}\n`)
