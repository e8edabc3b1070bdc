// The console: built by Vite when its sources or its packages have changed since the last build.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineProduct, listFiles, root } from './product.mjs'

const folder = join(root, 'console')
const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
/** The server's tables that the console reads. */
const TABLES = JSON.parse(readFileSync(new URL('console-tables.json', import.meta.url), 'utf8'))

export const consoleProduct = defineProduct({
  name: 'console',
  folder,
  listSources: () => [
    ...listFiles(folder, (name) => name !== 'README.md'),
    ...TABLES.map((path) => join(root, path)),
  ],
  argumentsOf: (fresh) => [vite, 'build', folder, '--outDir', fresh, '--logLevel', 'warn'],
})
