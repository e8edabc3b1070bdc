// Installs the pinned dependencies where they are missing or not those of the lockfile. Runs on the
// machine's own Node, before the pinned one is there, so it uses nothing newer than Node 20.
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { consoleProduct } from './build/console.mjs'
import { site } from './build/site.mjs'
import { withLock } from './install/lock.mjs'
import { InstallError, replaceTree } from './install/npm-ci.mjs'
import { isInstalled } from './install/tree.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** The oldest Node that runs TypeScript as it is, for platforms without a pinned one. */
const NODE_MIN = 24

/**
 * Makes `node_modules` match package-lock.json. `everything` also installs what only tests and
 * checks need. Returns the path of the pinned Node, or ends the process with what to do.
 */
export async function install({ everything }) {
  if (!isInstalled(root, { everything })) await alone(() => installTree({ everything }))
  return pinnedNode()
}

async function installTree({ everything }) {
  // Another start may have installed it meanwhile, and a tree with everything keeps everything.
  if (isInstalled(root, { everything })) return
  const all = everything || existsSync(join(root, 'node_modules', 'typescript'))
  await replaceTree(root, { everything: all, isPatient: true, say: console.error })
}

/** One process of this folder at a time installs and builds. */
async function alone(work, { isOptional = false } = {}) {
  try {
    const onWait = () => console.error('Another start in this folder installs: waiting for it …')
    await withLock(join(root, '.installing'), onWait, work)
  } catch (error) {
    console.error(describeFailure(error))
    if (!isOptional) process.exit(1)
  }
}

function describeFailure(error) {
  if (error instanceof InstallError) return error.message
  if (!['EACCES', 'EROFS', 'EPERM'].includes(error.code)) return error
  return (
    `${root} lacks packages or the built console, and this user cannot write there ` +
    `(${error.code}). Run \`npm start\` or \`npm run build\` once as its owner.`
  )
}

function pinnedNode() {
  const suffix = process.platform === 'win32' ? 'node.exe' : 'node'
  const pinned = join(root, 'node_modules', '.bin', suffix)
  if (existsSync(pinned)) return pinned
  if (Number(process.versions.node.split('.')[0]) >= NODE_MIN) return process.execPath
  console.error(
    `No Node for ${process.platform}-${process.arch} is among the packages, and this one is ` +
      `${process.version}: install Node ${NODE_MIN} or newer, then start again.`,
  )
  return process.exit(1)
}

/** What `npm start` serves beside the API; a gateway without it still serves calls. */
const PRODUCTS = [consoleProduct, site]
const isAnyStale = () => PRODUCTS.some((product) => product.isStale())

/** For `npm start`: builds what has changed, and installs what that needs. */
async function prepareService() {
  const isComplete = isInstalled(root, { everything: false })
  const node = await install({ everything: !isComplete && isAnyStale() })
  if (isAnyStale()) await alone(updateProducts, { isOptional: true })
  return node
}

async function updateProducts() {
  const stale = PRODUCTS.filter((product) => product.isStale())
  if (stale.length === 0) return
  if (!isInstalled(root, { everything: true })) {
    console.error(`The ${stale[0].name} has to be built, which needs more packages.`)
    await replaceTree(root, { everything: true, isPatient: false, say: console.error })
  }
  await Promise.all(stale.map((product) => product.build(pinnedNode())))
}

// As a command: prints the pinned Node's path, for `npm start` to become that process.
if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const isForService = process.argv.includes('--production')
  console.log(isForService ? await prepareService() : await install({ everything: true }))
}
