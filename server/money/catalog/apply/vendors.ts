/** The vendors that come with Tributary: each file of `catalog/` is the price book of one. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../../base/lib/operator-error.ts'
import { parseCatalogFile } from './file.ts'
import type { CatalogFile } from './file-schema.ts'

const FOLDER = join(import.meta.dirname, '..', '..', '..', '..', 'catalog')
/** The catalog of the demo, whose upstreams are not vendors. */
const SIMULATORS = 'simulators'

export interface Vendor {
  readonly name: string
  readonly path: string
  /** The file as written, before its schema fills in defaults. */
  readonly text: string
  readonly content: CatalogFile
  /** Environment variables that its channels need. */
  readonly variables: readonly string[]
}

let shipped: readonly Vendor[] | undefined

/** Lists the vendors by name. The files are read once: a release does not change them. */
export function listVendors(): readonly Vendor[] {
  shipped ??= readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json') && file !== `${SIMULATORS}.json`)
    .map(readVendor)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  return shipped
}

/** Returns the vendor of a name, an alias or a file. Throws OperatorError for any other. */
export function findVendor(name: string): Vendor {
  const vendors = listVendors()
  const id = name.toLowerCase().replace(/\.json$/, '')
  const isNamed = ({ name: own, content }: Vendor) =>
    own === id || (content.aliases ?? []).includes(id)
  const found = vendors.find(isNamed)
  if (found) return found
  const known = vendors.map((one) => one.name).join(', ')
  throw new OperatorError(`there is no vendor "${name}" in the catalog; known: ${known}`)
}

function readVendor(file: string): Vendor {
  const path = join(FOLDER, file)
  const text = readFileSync(path, 'utf8')
  return {
    name: file.replace(/\.json$/, ''),
    path,
    text,
    content: parseCatalogFile(file, text, {}).content,
    variables: [...new Set([...text.matchAll(/"env:(\w+)"/g)].map(([, name]) => name ?? ''))],
  }
}
