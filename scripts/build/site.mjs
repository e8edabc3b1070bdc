// The site of the documentation: docs/ and the pages at the top as HTML, with an index to search.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { defineProduct, listFiles, root } from './product.mjs'

const folder = join(root, 'docs')
const program = join(root, 'scripts', 'site')

export const site = defineProduct({
  name: 'documentation',
  folder,
  listSources: () => [
    ...listFiles(folder),
    ...listFiles(program),
    ...readdirSync(root)
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => join(root, name)),
  ],
  argumentsOf: (fresh) => [join(program, 'main.ts'), fresh],
})
