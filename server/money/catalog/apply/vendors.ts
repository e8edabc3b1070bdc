/** The vendors that come with Tributary: each file of `catalog/` is the price book of one. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { OperatorError } from '../../../base/lib/operator-error.ts'
import { type NamedCatalogFile, parseCatalogFile } from './file.ts'
import type { CatalogFile } from './file-schema.ts'

const FOLDER = join(import.meta.dirname, '..', '..', '..', '..', 'catalog')
/** The catalog of the demo, whose upstreams are not vendors. */
const SIMULATORS = 'simulators'

export interface Vendor {
  readonly name: string
  readonly path: string
  /** The file as written, before its schema fills in defaults. */
  readonly text: string
  readonly file: NamedCatalogFile
  readonly content: CatalogFile
  /** Environment variables that its channels need. */
  readonly variables: readonly string[]
}

let shipped: Promise<readonly Vendor[]> | undefined

/**
 * Lists the vendors by name. The files are read once: a release does not change them. If they
 * cannot be read, for example for want of file descriptors, the next call reads them again.
 */
export function listVendors(): Promise<readonly Vendor[]> {
  shipped ??= readVendors().catch((error: unknown) => {
    shipped = undefined
    throw error
  })
  return shipped
}

async function readVendors(): Promise<readonly Vendor[]> {
  const vendors: Vendor[] = []
  for (const file of readdirSync(FOLDER)) {
    if (!file.endsWith('.json') || file === `${SIMULATORS}.json`) continue
    vendors.push(readVendor(file))
    // Checking a large file takes tens of milliseconds, in which a gateway serves nothing else.
    await setImmediate()
  }
  return vendors.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Returns the vendor of a name, an alias or a file. Throws OperatorError for any other. */
export async function findVendor(name: string): Promise<Vendor> {
  const vendors = await listVendors()
  const id = name.toLowerCase().replace(/\.json$/, '')
  const isNamed = ({ name: own, content }: Vendor) =>
    own === id || (content.aliases ?? []).includes(id)
  const found = vendors.find(isNamed)
  if (found) return found
  const known = vendors.map((one) => one.name).join(', ')
  throw new OperatorError(`there is no vendor "${name}" in the catalog; known: ${known}`)
}

function readVendor(fileName: string): Vendor {
  const path = join(FOLDER, fileName)
  const text = readFileSync(path, 'utf8')
  const name = fileName.replace(/\.json$/, '')
  const file = parseCatalogFile(name, text, {})
  return {
    name,
    path,
    text,
    file,
    content: file.content,
    variables: [...new Set([...text.matchAll(/"env:(\w+)"/g)].map(([, name]) => name ?? ''))],
  }
}
