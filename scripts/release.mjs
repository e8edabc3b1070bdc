// `npm run release [-- --key FILE]` writes into dist: tributary-VERSION.tar.gz, the last commit
// with the console and the documentation built, which starts without the tools for that; its
// software bill of materials; SHA256SUMS of these two; and its provenance. The same commit makes
// the same sums on any machine: docs/guides/verify.md.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { consoleProduct } from './build/console.mjs'
import { site } from './build/site.mjs'
import { install, root } from './install.mjs'
import { describeProvenance, digestOf } from './release/provenance.mjs'
import { SIGNATURE_NAMESPACE, sign } from './release/sign.mjs'

const HELP = `Writes a release of the last commit into dist.

  npm run release -- [--key FILE]

  --key FILE  an SSH private key: SHA256SUMS and the provenance are signed with it
              (ssh-keygen -Y sign, namespace ${SIGNATURE_NAMESPACE})`
const { values } = readArguments()
if (values.help) {
  console.log(HELP)
  process.exit(0)
}
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
if (run('git', ['status', '--porcelain']) !== '') fail('commit first: a release is of a commit')
const node = await install({ everything: true })
// Another Node compresses to other bytes.
if (run(node, ['--version']).trim() !== process.version) {
  const own = spawnSync(node, process.argv.slice(1), { stdio: 'inherit' })
  process.exit(own.status ?? 1)
}
for (const product of [consoleProduct, site]) if (!(await product.build(node))) process.exit(1)

const name = `tributary-${version}`
const folder = join(root, 'dist')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const archive = gzipSync(writeArchive(), { level: 9 })
const bill = run(node, [join(root, 'scripts', 'build-sbom.mjs')])
const files = new Map([
  [`${name}.tar.gz`, archive],
  [`${name}.cdx.json`, bill],
])
const sums = [...files].map(([file, content]) => `${digestOf(content)}  ${file}\n`).join('')
const commit = run('git', ['rev-parse', 'HEAD']).trim()
const provenance = describeProvenance({ commit, version, root, files })
const statements = new Map([
  ['SHA256SUMS', sums],
  [`${name}.intoto.json`, `${JSON.stringify(provenance, null, 2)}\n`],
])
for (const [file, content] of [...files, ...statements]) writeFileSync(join(folder, file), content)
if (values.key) for (const file of statements.keys()) sign(join(folder, file), values.key, fail)
for (const file of readdirSync(folder).sort()) console.log(join('dist', file))

function readArguments() {
  try {
    const options = { key: { type: 'string' }, help: { type: 'boolean', short: 'h' } }
    return parseArgs({ options })
  } catch (error) {
    console.error(HELP)
    return fail(error.message)
  }
}

/** Returns the commit's files and the built ones as a tar; all have the time of the commit. */
function writeArchive() {
  const built = ['console', 'docs']
    .flatMap((folder) =>
      readdirSync(join(root, folder, 'dist'), { recursive: true, withFileTypes: true }),
    )
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
    .flatMap((path) => {
      const parent = path.slice(0, path.lastIndexOf('/'))
      return [`--prefix=${name}/${parent}/`, `--add-file=${path}`]
    })
  // The mode of files does not depend on the settings of who builds.
  const settings = ['-c', 'tar.umask=0022', '-c', 'core.autocrlf=false', '-c', 'core.eol=lf']
  const command = ['archive', '--format=tar', ...built, `--prefix=${name}/`, 'HEAD']
  return run('git', [...settings, ...command], 'buffer')
}

/** Returns what the program prints; ends this one if it fails. */
function run(command, args, encoding = 'utf8') {
  const options = { cwd: root, encoding, maxBuffer: 2 ** 30 }
  const { status, stdout, stderr, error } = spawnSync(command, args, options)
  return status === 0 ? stdout : fail(error?.message ?? String(stderr))
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
