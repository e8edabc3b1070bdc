// Prints a software bill of materials (CycloneDX 1.6, JSON) of the packages that run in production,
// from package-lock.json alone. Runs on the machine's own Node as well.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'))

const { name, version, license } = read('package.json')
const lock = read('package-lock.json')
const purlOf = (id, at) => `pkg:npm/${id.replace('@', '%40')}@${at}`

/** The algorithm and the hexadecimal digest of an integrity such as `sha512-…=`. */
function hashesOf(integrity) {
  if (!integrity) return {}
  const [algorithm, digest] = integrity.split(' ')[0].split(/-(.*)/s)
  const alg = algorithm.toUpperCase().replace('SHA', 'SHA-')
  return { hashes: [{ alg, content: Buffer.from(digest, 'base64').toString('hex') }] }
}

const components = Object.entries(lock.packages)
  .filter(([path, entry]) => path !== '' && !entry.dev && !entry.devOptional)
  .map(([path, entry]) => {
    const id = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const purl = purlOf(id, entry.version)
    return {
      type: 'library',
      'bom-ref': purl,
      name: id,
      version: entry.version,
      scope: entry.optional ? 'optional' : 'required',
      purl,
      ...hashesOf(entry.integrity),
      ...(entry.license ? { licenses: [{ expression: entry.license }] } : {}),
    }
  })
  .sort((a, b) => (a.purl < b.purl ? -1 : 1))

// The same lockfile has the same serial number.
const digest = createHash('sha256').update(JSON.stringify(components)).digest('hex')
const uuid = [
  digest.slice(0, 8),
  digest.slice(8, 12),
  `4${digest.slice(13, 16)}`,
  `a${digest.slice(17, 20)}`,
  digest.slice(20, 32),
].join('-')
const self = { type: 'application', 'bom-ref': purlOf(name, version), name, version }
const bom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  serialNumber: `urn:uuid:${uuid}`,
  version: 1,
  metadata: { component: { ...self, licenses: [{ license: { id: license } }] } },
  components,
}
console.log(JSON.stringify(bom, null, 2))
