/** A link's parameters must be ones that its page reads: a filter of another name is no filter. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const SOURCE = join(import.meta.dirname, '..', '..', '..', 'console', 'src')
const read = (path: string) => readFileSync(join(SOURCE, path), 'utf8')

/** Of every customer page, which `lib/session.tsx` reads. */
const OF_ACCOUNTS = ['account']

/** Returns the parameters that each page reads, by its path. */
function parametersByPath(): Map<string, Set<string>> {
  const lines = [...read('app/pages.ts').matchAll(/path: '([^']+)',[^}]*?features\/([\w-]+)\//g)]
  return new Map(
    lines.map(([, path = '', folder = '']) => {
      const text = globSync(join(SOURCE, 'features', folder, '**/*.{ts,tsx}'))
        .map((file) => readFileSync(file, 'utf8'))
        .join('\n')
      const names =
        text.match(/use(?:Url|List)State\([^)]*\)|const FILTERS = \[[^;]*?\n?\] as/g) ?? []
      const found = names.join(' ').matchAll(/'(\w+)'/g)
      const opens = text.includes('useListState(') ? ['id'] : []
      const shared = path.startsWith('/operator') ? [] : OF_ACCOUNTS
      return [path, new Set([...found].map(([, name = '']) => name).concat(opens, shared))]
    }),
  )
}

/** Returns every link with literal parameters: `to="/x" search={{ a }}`, `goTo('/x', { a })`. */
function listLinks(): { readonly file: string; readonly to: string; readonly names: string[] }[] {
  const shapes = [
    /to="(\/[^"]*)"\s+search=\{\{([^}]*)\}\}/g,
    /to: '(\/[^']*)',\s*search: \{([^}]*)\}/g,
    /goTo\('(\/[^']*)', \{([^}]*)\}/g,
    /at\('(\/[^']*)', ([^)]*)\)/g,
  ]
  return globSync(join(SOURCE, '**/*.{ts,tsx}')).flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    return shapes.flatMap((shape) =>
      [...text.matchAll(shape)].map(([, to = '', search = '']) => ({
        file: `${dirname(file).split('/').at(-1)}/${file.split('/').at(-1)}`,
        to,
        names: search
          .split(',')
          .map((member) => member.split(':')[0]?.trim().replaceAll("'", '') ?? '')
          .filter((name) => name !== ''),
      })),
    )
  })
}

test('every parameter of a link is read by its page', () => {
  const byPath = parametersByPath()
  const links = listLinks()
  assert.ok(links.length > 30, `only ${links.length} links were found`)
  assert.ok(byPath.size > 15, `only ${byPath.size} pages were found`)
  const unread = links.flatMap(({ file, to, names }) =>
    names
      .filter((name) => to !== '/sign-in' && !byPath.get(to)?.has(name))
      .map((name) => `${file}: ${to}?${name}=`),
  )
  assert.deepEqual(unread, [])
})
