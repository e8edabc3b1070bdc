// Builds the console and the site of the documentation where their sources have changed since, or
// always with --force. Runs on the machine's own Node as well.
import { consoleProduct } from './build/console.mjs'
import { buildAsCommand } from './build/product.mjs'
import { site } from './build/site.mjs'

await buildAsCommand(import.meta.url, [consoleProduct, site])
